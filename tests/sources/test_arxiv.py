"""arXiv: records in any version, its search, and its patience."""

from itertools import pairwise

import pytest

from tests.answering import answering
from utils.download import records
from utils.errors import BadRequest, NotAvailable, NotFound, Unreachable
from utils.model.identifiers import Ids
from utils.sources import Query
from utils.sources.arxiv import SOURCE, fetch_version, look_up_papers, recall_cached_papers, search
from utils.sources.arxiv_query import LAST_HIT


def test_record_of_a_preprint(library, world):
    record = world.paper("arxiv")
    [paper] = look_up_papers([Ids(arxiv=record.arxiv)], library.web).values()
    assert paper.ids.arxiv == record.arxiv
    assert paper.title == record.title
    assert paper.authors
    assert paper.abstract
    assert paper.recorded_by == "arxiv"


def test_a_record_says_all_that_arxiv_says(library):
    paper = look_up_papers([Ids(arxiv="2601.00001")], library.web)[Ids(arxiv="2601.00001")]
    assert (paper.version, paper.published, paper.revised) == ("2", "2026-01-02", "2026-03-01")
    assert paper.categories == ("q-bio.PE", "math.PR")
    assert paper.keywords == ()
    assert paper.ids.doi == "10.9101/moss.2026.1"
    assert (paper.journal, paper.volume, paper.pages) == ("J. Moss Phys.", "12", "11-19")
    assert [author.family for author in paper.authors[:2]] == ["van der Berg", "de la Cruz"]
    assert paper.authors[0].affiliations == ("Institute of Wet Walls",)
    assert paper.authors[1].suffix == "Jr."
    assert paper.authors[2].collective == "The MOSS Collaboration"


def test_the_version_asked_for_is_the_one_that_comes(library):
    first = fetch_version("2601.00001", "1", library.web)
    newest = fetch_version("2601.00001", "", library.web)
    assert (first.version, first.revised) == ("1", "2026-01-02")
    assert (newest.version, newest.revised) == ("2", "2026-03-01")
    assert fetch_version("2601.00001", "7", library.web) is None


def test_only_the_version_that_withdraws_is_withdrawn(library):
    newest, first = (fetch_version("2604.00005", version, library.web) for version in ("", "1"))
    assert "Withdrawn" in newest.publication_types
    assert "error in equation 3" in newest.notices[0].reference
    assert newest.retracted
    assert first.publication_types == ("Preprint",)
    assert first.notices == ()


def test_unknown_and_malformed_are_told_apart_from_down(library, world):
    assert look_up_papers([Ids(arxiv="2501.99999")], library.web) == {}
    world.mood("down", "arxiv")
    with pytest.raises(Unreachable):
        look_up_papers([Ids(arxiv="2501.99998")], library.web)


@pytest.mark.parametrize("status", [400, 200])
def test_an_error_feed_is_an_error_whatever_its_status(library, world, status):
    if status == 200:
        world.mood("errors_at_200", "arxiv")
    with pytest.raises(NotAvailable, match="incorrect id format"):
        look_up_papers([Ids(arxiv="nonsense"), Ids(arxiv="2601.00001")], library.web)
    assert len(world.requests) == 1


@pytest.mark.parametrize("status", [400, 200])
def test_what_can_be_no_name_is_nobodys_paper(library, world, status):
    if status == 200:
        world.mood("errors_at_200", "arxiv")
    outcomes = records.look_up_records([Ids(arxiv="nonsense")], library.web, [SOURCE])
    assert isinstance(outcomes[Ids(arxiv="nonsense")], NotFound)


def test_what_is_remembered_is_not_lost_with_what_must_be_asked(library, world):
    known, new = Ids(arxiv="2601.00001"), Ids(arxiv="2604.00005")
    look_up_papers([known], library.web)
    world.mood("down", "arxiv")
    assert set(recall_cached_papers([known, new], library.web)) == {known}
    outcomes = records.look_up_records([known, new], library.web, [SOURCE])
    assert outcomes[known].title
    assert isinstance(outcomes[new], Unreachable)


def test_a_page_kept_by_another_version_is_asked_for_again(library, world, monkeypatch):
    first = search(Query("testing"), library.web)
    for kept in ({"total": 3}, {"total": 1, "entries": 1, "papers": [{"of": "old"}]}, [1]):
        monkeypatch.setattr(type(library.web.cache), "get", lambda self, kind, name, k=kept: k)
        assert search(Query("testing"), library.web) == first
    assert len(world.requests) == 4


def test_pages_are_counted_in_entries_and_what_cannot_be_read_is_said(library, monkeypatch):
    entry = "<entry><id>http://arxiv.org/abs/2601.0000{}v1</id><title>A</title>{}</entry>"
    author = "<author><name>Jane Doe</name></author>"

    def feed(*authors):
        entries = "".join(entry.format(at, one) for at, one in enumerate(authors))
        return (
            '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:o="http://a9.com/-/spec/opensearch/'
            f'1.1/"><o:totalResults>9</o:totalResults><o:startIndex>0</o:startIndex>{entries}</feed>'
        )

    answering(monkeypatch, feed("", author, ""), feed("", "", ""))
    page = search(Query("one", max_results=3), library.web)
    assert (len(page.papers), page.next_start) == (1, 3)
    assert "2 of arXiv's entries could not be read" in page.warnings[0]
    assert search(Query("one", max_results=3), library.web) == page  # remembered as it was
    page = search(Query("two", max_results=3), library.web)
    assert (page.papers, page.next_start) == ((), 3)
    assert "3 of arXiv's entries" in page.warnings[0]


@pytest.mark.parametrize("number", ["", "many", "-1", "1.5", "9" * 5000, "\u0663"])
@pytest.mark.parametrize("tag", ["totalResults", "startIndex"])
def test_a_number_that_is_none_is_no_answer(library, monkeypatch, tag, number):
    told = {"totalResults": "9", "startIndex": "0", tag: number}
    numbers = "".join(f"<o:{name}>{value}</o:{name}>" for name, value in told.items())
    answering(
        monkeypatch,
        '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:o="http://a9.com/-/spec/opensearch/'
        f'1.1/">{numbers}<entry/></feed>',
    )
    with pytest.raises(Unreachable, match="arXiv did not say"):
        search(Query("one"), library.web)


def test_asked_once_a_day_at_most(library, world, clock):
    arxiv = world.paper("arxiv").arxiv
    for _ in range(2):
        look_up_papers([Ids(arxiv=arxiv)], library.web)
        search(Query("moss"), library.web)
    assert len(world.requests) == 2
    clock.sleep(86_500)
    look_up_papers([Ids(arxiv=arxiv)], library.web)
    search(Query("moss"), library.web)
    assert len(world.requests) == 4


def test_what_a_search_showed_is_not_looked_up_again(library, world):
    [paper] = search(Query("ti:branching"), library.web).papers
    assert fetch_version(paper.ids.arxiv, "", library.web) == paper
    assert len(world.requests) == 1


def test_three_seconds_between_any_two_requests(library, world):
    look_up_papers([Ids(arxiv=world.paper("arxiv").arxiv)], library.web)
    for number in range(3):
        search(Query("testing", start=number), library.web)
    times = [request.at for request in world.requests]
    assert len(times) == 4
    # They leave three seconds apart; a busy machine may hold one up on its way.
    assert all(later - sooner > 2 for sooner, later in pairwise(times))
    assert not [request for request in world.requests if request.status == 429]


@pytest.mark.parametrize("mood", ["storm", "not_acceptable", "down"])
def test_a_refusal_without_retry_after_means_a_minute(library, world, mood):
    world.mood(mood, "arxiv", times=1, seconds=0)
    assert search(Query("testing"), library.web).total
    first, second = world.requests
    assert second.at - first.at >= 60


@pytest.mark.parametrize("mood", ["storm", "not_acceptable", "down"])
def test_refused_again_it_is_left_alone_by_everybody(library, world, mood):
    world.mood(mood, "arxiv", seconds=0)
    with pytest.raises(Unreachable) as refusal:
        search(Query("testing"), library.web)
    assert len(world.requests) <= 3
    assert refusal.value.retry_after >= 60
    assert refusal.value.code == "RATE_LIMIT"
    asked = len(world.requests)
    with pytest.raises(Unreachable):
        look_up_papers([Ids(arxiv="2601.00001")], library.web)
    assert len(world.requests) == asked


def test_old_identifiers_are_sent_whole(library, world):
    [paper] = look_up_papers([Ids.parse("hep-ex/0307015")], library.web).values()
    assert world.requests[0].params["id_list"] == "hep-ex/0307015"
    assert paper.ids.arxiv == "hep-ex/0307015"
    assert [author.name for author in paper.authors] == [
        "CORAL Collaboration",
        "A. Del Maestro",
        "Peter H. N. de With",
    ]
    assert (paper.journal, paper.volume, paper.pages) == ("Phys.Rev.Lett.", "91", "010505")


def test_search_counts_truly_and_pages_to_the_end(library):
    seen, start = [], 0
    while start is not None:
        page = search(Query("testing", start=start, max_results=20), library.web)
        seen += [paper.ids.arxiv for paper in page.papers]
        start = page.next_start
    assert page.total == len(seen) == len(set(seen)) >= 45
    assert page.effective_query == "all:testing"


def test_nothing_found_is_an_answer(library):
    found = search(Query("xylophone zeppelin"), library.web)
    assert (found.total, found.papers, found.next_start) == (0, (), None)


def test_a_page_without_the_hits_it_counts_is_asked_again(library, world):
    world.mood("no_entries", "arxiv", times=2)
    assert search(Query("testing"), library.web).papers
    assert len(world.requests) == 3


def test_and_is_never_taken_for_no_hits(library, world):
    world.mood("no_entries", "arxiv")
    with pytest.raises(Unreachable, match="without any"):
        search(Query("testing"), library.web)
    world.calm()
    assert search(Query("testing"), library.web).papers, "the failure was remembered"


@pytest.mark.parametrize("mood", ["garbage", "empty", "xml_bomb", "captcha"])
def test_what_is_no_feed_is_no_answer(library, world, mood):
    world.mood(mood, "arxiv")
    with pytest.raises(Unreachable):
        search(Query("testing"), library.web)


def test_filters_narrow(library):
    def found(text="testing", **more):
        return search(Query(text, max_results=100, **more), library.web).papers

    assert {paper.categories[0] for paper in found(categories=("hep-ex",))} == {"hep-ex"}
    assert {paper.published[:4] for paper in found(min_date="2012", max_date="2013/12")} == {
        "2012",
        "2013",
    }
    [byline] = found("", author="de la Cruz, Zoë")
    assert byline.ids.arxiv == "2601.00001"
    assert not found("branching OR testing", author="Zoë de la Cruz", categories=("hep-ex",))


def test_sorts_reach_arxiv(library):
    def days(**more):
        found = search(
            Query("testing", max_results=100, sort_by="submittedDate"), library.web, **more
        )
        return [paper.published for paper in found.papers]

    newest = days()
    assert newest == sorted(newest, reverse=True)
    assert days(sort_order="ascending") == sorted(newest)


@pytest.mark.parametrize("status", [400, 200])
def test_what_arxiv_refuses_is_the_questions_fault(library, world, status):
    if status == 200:
        world.mood("errors_at_200", "arxiv")
    with pytest.raises(BadRequest, match="malformed"):
        search(Query("submittedDate:[20201399 TO 20219901]"), library.web)
    assert len(world.requests) == 1


def test_the_wall_is_told_before_it_is_hit(library, world):
    with pytest.raises(BadRequest, match="30,000"):
        search(Query("testing", start=LAST_HIT - 5, max_results=10), library.web)
    assert not world.requests
