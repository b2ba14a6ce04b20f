"""Dates as people, programs and language models write them, at every door that takes some."""

from datetime import date

import pytest

from utils.errors import BadRequest
from utils.model.dates import get_first_day, get_last_day, parse_written_date
from utils.sources import Query
from utils.sources.source import to_day_range

SAME_DAY = [
    "2020-01-31", "2020/01/31", "2020.01.31", "20200131", "2020-01-31T12:30:00Z",
    "2020-01-31 00:00:00", "January 31, 2020", "31 Jan 2020", "Jan 31st, 2020", "2020 Jan 31",
]  # fmt: skip


@pytest.mark.parametrize("written", SAME_DAY)
def test_a_day_is_read_in_every_usual_form(written):
    assert parse_written_date(written, "min_date") == "2020/01/31"


@pytest.mark.parametrize(
    ("written", "found"),
    [("2020", "2020"), ("2020-02", "2020/02"), ("Feb 2020", "2020/02"), ("2020/2", "2020/2")],
)
def test_a_date_keeps_its_precision(written, found):
    assert parse_written_date(written, "min_date") == found
    last = date(2020, 2, 29) if len(found) > 4 else date(2020, 12, 31)
    assert (get_first_day(found).year, get_last_day(found)) == (2020, last)


@pytest.mark.parametrize(
    "written", ["last year", "2020-13", "2020-00", "2020-02-30", "31/01/2020", "20", "0000", "-5"]
)
def test_what_is_not_a_date_is_named(written):
    with pytest.raises(BadRequest, match=r"max_date .* is not a date"):
        parse_written_date(written, "max_date")


def test_an_end_in_the_present_is_open():
    assert parse_written_date("present", "max_date") == parse_written_date("", "max_date") == ""
    with pytest.raises(BadRequest):
        parse_written_date("today", "min_date")


def test_every_site_gets_iso_dates_in_its_own_form():
    query = Query("moss", min_date="2020-02", max_date="2020-03-05")
    assert (query.min_date, query.max_date) == ("2020/02", "2020/03/05")
    assert to_day_range(query, "Europe PMC") == ("2020-02-01", "2020-03-05")
    with pytest.raises(BadRequest, match="later"):
        to_day_range(Query("moss", min_date="2021", max_date="2020"), "Europe PMC")
