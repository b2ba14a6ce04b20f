"""One review played from its protocol to the figure: every number is counted again from raw files.

Four databases are searched; exports of a fifth, of a register and of citation searching lie beside
the protocol. Kofi and Ama screen in Rayyan, ASReview and Zotero, agree by Covidence's lists, and
judge full texts in Rayyan; EPPI-Reviewer's report settles what they disagree about. The counts that
the figure is held against are made here, from those files alone, by titles. Of citation searching
they are counted from who cites whom in the world. ``PLAYED_REVIEW=whole`` plays it with some 1,200
records from databases, registers and lists.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
import re
import time
from collections import Counter, defaultdict
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from tests.harvests import done
from tests.reports.r_prisma import read_as_r_does
from tests.world import World, kinship
from utils import Library
from utils.demo.prose import references
from utils.lists.decisions import GivenFacts
from utils.model.identifiers import Ids
from utils.review import Review

WHOLE = os.environ.get("PLAYED_REVIEW") == "whole"
FIELD = 990 if WHOLE else 120  # Semantic Scholar hands out a thousand at the most
EMBASE = 150 if WHOLE else 30
REASONS = ("wrong population", "wrong outcome", "no data")
Votes = dict[str, dict[str, str]]

pytestmark = [pytest.mark.timeout(3600 if WHOLE else 300), pytest.mark.slow]
"""By title and screener, what was decided."""


def plain(title: str) -> str:
    return re.sub(r"[^a-z0-9]", "", title.lower())


def ris(rows: list[dict[str, str]]) -> str:
    """An export as Ovid writes it, identifiers only where the row has them."""
    text = ""
    for row in rows:
        lines = [("TY", "JOUR"), ("TI", row["title"]), ("AU", row["author"]), ("PY", row["year"])]
        lines += [("T2", row["journal"]), ("VL", row["volume"]), ("SP", row["page"])]
        lines += [("DO", row["doi"])] if row.get("doi") else []
        text += "".join(f"{tag}  - {value}\n" for tag, value in lines if value) + "ER  - \n\n"
    return text


def of_world(world: World, number: int, *, doi: bool) -> dict[str, str]:
    record = world.field[number]
    return {
        "title": re.sub(r"<[^>]+>", "", record.title),
        "author": ", ".join(record.authors[0]),
        "year": record.published[:4],
        "journal": record.journal.title,
        "volume": record.volume,
        "page": record.pages.partition("-")[0],
        "doi": record.doi if doi else "",
    }


def of_nobody(kind: str, number: int) -> dict[str, str]:
    return {
        "title": f"{kind} study {number:03} of lichens growing on the roofs of observatories",
        "author": f"Nobody{number}, N.",
        "year": str(1990 + number % 30),
        "journal": f"Annals of {kind} Roofs",
        "volume": str(number + 1),
        "page": str(10 * number + 1),
    }


PROTOCOL = """\
title: Fields and observatories
question: Do lichens matter?
databases:
  - source: pubmed
    query: field[ti]
    max_date: {until}
  - source: europepmc
    query: field
  - source: arxiv
    query: "all:field"
  - source: semantic_scholar
    query: field
lists:
  - {{file: embase.ris, name: "Embase, Ovid", query: field.ti., searched: 2026-11-01}}
  - {{file: trials.ris, name: ClinicalTrials.gov, kind: register, query: field}}
  - {{file: chased.ris, name: Forward and backward, kind: citation searching}}
screeners: 2
prisma: {{new_studies: 7}}
"""


@pytest.fixture
def review(library: Library, field: World) -> Review:
    review = library.reviews.create("fields")
    known = [of_world(field, number, doi=number % 2 == 0) for number in range(0, FIELD, 3)]
    lists = {
        "embase.ris": [*known, *(of_nobody("Embase", n) for n in range(EMBASE))],
        "trials.ris": [of_nobody("Register", n) for n in range(9)],
        "chased.ris": [
            *(of_world(field, n, doi=True) for n in range(5)),
            *(of_nobody("Chased", n) for n in range(12)),
        ],
    }
    for name, rows in lists.items():
        (review.folder / name).write_text(ris(rows), encoding="utf-8")
    (review.folder / "protocol.yaml").write_text(PROTOCOL.format(until=2030), encoding="utf-8")
    return review


def raw_titles(world: World) -> dict[str, list[str]]:
    """The titles that each database sends to this search, asked without Papershelf."""
    asked = {
        "Europe PMC": "europepmc/search?query=field&format=json&pageSize=1000",
        "arXiv": "arxiv/api/query?search_query=all:field&max_results=2000",
        "Semantic Scholar": "semantic_scholar/paper/search/bulk?query=field&fields=title",
    }
    found = {"PubMed": [record.title for record in world.field]}
    for name, path in asked.items():
        service, _, rest = path.partition("/")
        with urlopen(f"{world.url(service)}/{rest}") as answer:
            body = answer.read().decode()
        said = json.loads(body) if body.startswith("{") else {}
        rows = said.get("resultList", {}).get("result") or said.get("data") or ()
        entries = re.findall(r"<entry>.*?<title[^>]*>(.*?)</title>", body, re.S)
        found[name] = [row["title"] for row in rows] or entries
    return {name: [plain(unescape(re.sub(r"<[^>]+>", "", one))) for one in titles]
            for name, titles in found.items()}  # fmt: skip


def figure(review: Review) -> dict[str, Any]:
    review.report()
    return read_as_r_does((review.folder / "prisma.csv").read_text(encoding="utf-8"))


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# -- the screeners ---------------------------------------------------------------------------------


def wishes(titles: list[str], dice: random.Random) -> Votes:
    """What Kofi and Ama think: they mostly agree."""
    made: Votes = {}
    for title in titles:
        kofi = dice.choices(("include", "exclude", "maybe"), (40, 55, 5))[0]
        agree = dice.random() < 0.9
        made[title] = {"Kofi": kofi, "Ama": kofi if agree else "exclude"}
    return made


_RAYYAN = {"include": "Included", "exclude": "Excluded", "maybe": "Maybe"}


def in_rayyan(exported: Path, votes: Votes, reasons: dict[str, str], dice: random.Random) -> str:
    """Our export after both screened in Rayyan: keys of its own, notes of ours not always kept."""
    rows = rows_of(exported)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for number, row in enumerate(rows):
        said = votes.get(plain(row["title"]))
        if said is None:
            continue
        words = ", ".join(f'"{name}"=>"{_RAYYAN[one]}"' for name, one in said.items())
        parts = [row["notes"]] if dice.random() < 0.6 else []
        parts.append(f"RAYYAN-INCLUSION: {{{words}}}")
        if "exclude" in said.values() and plain(row["title"]) in reasons:
            parts.append(f"RAYYAN-EXCLUSION-REASONS: {reasons[plain(row['title'])]}")
        writer.writerow(row | {"key": f"rayyan-{900 + number}", "notes": " | ".join(parts)})
    return out.getvalue()


def in_asreview(exported: Path, votes: Votes) -> str:
    """Our export after Kofi screened in ASReview, which has no *maybe*."""
    rows = rows_of(exported)
    added = ["asreview_label", "asreview_time", "asreview_note", "asreview_user_name"]
    out = io.StringIO()
    writer = csv.DictWriter(out, [*(n for n in rows[0] if n != "included"), *added],
                            lineterminator="\n", extrasaction="ignore")  # fmt: skip
    writer.writeheader()
    for row in rows:
        said = votes.get(plain(row["title"]), {})
        label = {"include": "1", "exclude": "0", "maybe": "1"}.get(said.get("Kofi", ""), "")
        writer.writerow(row | {"asreview_label": label, "asreview_user_name": "Kofi"})
    return out.getvalue()


def in_zotero(exported: Path, votes: Votes) -> str:
    """Our export after Ama tagged it in Zotero, which writes notes as HTML."""
    made = []
    for block in exported.read_text(encoding="utf-8").split("\n\n"):
        title = re.search(r"^TI  - (.*)$", block, re.M)
        said = votes.get(plain(title[1]), {}).get("Ama") if title else None
        lines = [line for line in block.splitlines() if not line.startswith("KW  - papershelf")]
        if said:
            lines.insert(1, f"KW  - papershelf/{said}")
        made.append("\n".join(re.sub(r"^(N1  - )(.*)$", r"\1<p>\2</p>", line) for line in lines))
    return "\n\n".join(made)


def in_covidence(records: list[dict[str, str]]) -> str:
    """A list of Covidence's."""
    out = io.StringIO()
    names = ["Title", "Authors", "Abstract", "Published Year", "Published Month", "Journal",
             "Volume", "Issue", "Pages", "Accession Number", "DOI", "Ref", "Covidence #", "Study",
             "Notes", "Tags"]  # fmt: skip
    writer = csv.DictWriter(out, names, lineterminator="\n", restval="")
    writer.writeheader()
    for number, row in enumerate(records):
        writer.writerow({"Title": row["title"], "Published Year": row["year"], "DOI": row["doi"],
                         "Journal": row["journal"], "Covidence #": f"#{number}",
                         "Authors": row.get("authors", "")})  # fmt: skip
    return out.getvalue()


def in_eppi(records: list[dict[str, str]]) -> str:
    """EPPI-Reviewer's report on what was excluded after discussion."""
    codes = [{"AttributeId": 1, "AttributeType": "Exclude", "AttributeName": "no data"}]
    return json.dumps({
        "CodeSets": [{"SetName": "Screen on Full Text", "Attributes": {"AttributesList": codes}}],
        "References": [{"Title": one["title"], "Year": one["year"], "DOI": one["doi"],
                        "ParentTitle": one["journal"], "Codes": [{"AttributeId": 1}]}
                       for one in records],
    })  # fmt: skip


# -- the same counted again, from the files alone --------------------------------------------------


def counted_again(folder: Path) -> tuple[dict[str, Votes], dict[str, str]]:
    """What the decision files in *folder* say, by stage, title and screener; reasons by title."""
    first, reasons = told_in_rayyan(folder / "rayyan_first.csv")
    second, why = told_in_rayyan(folder / "rayyan_second.csv")
    for row in rows_of(folder / "asreview.csv"):
        if row["asreview_label"]:
            choice = "include" if row["asreview_label"] == "1" else "exclude"
            first[plain(row["title"])]["Kofi"] = choice
    for title, tag in told_in_zotero(folder / "zotero.ris").items():
        first[title]["Ama"] = tag
    for row in rows_of(folder / "review_7_irrelevant_csv_20261102.csv"):
        first[plain(row["Title"])]["consensus"] = "exclude"
    for one in json.loads((folder / "eppi.json").read_text(encoding="utf-8"))["References"]:
        second[plain(one["Title"])]["consensus"] = "exclude"
        why[plain(one["Title"])] = "no data"
    return {"first": first, "second": second}, reasons | why


def told_in_rayyan(path: Path) -> tuple[Votes, dict[str, str]]:
    votes: Votes = defaultdict(dict)
    reasons: dict[str, str] = {}
    words = {"Included": "include", "Excluded": "exclude", "Maybe": "maybe"}
    for row in rows_of(path):
        title = plain(row["title"])
        votes[title] = {n: words[w] for n, w in re.findall(r'"(\w+)"=>"(\w+)"', row["notes"])}
        if found := re.search(r"EXCLUSION-REASONS: ([^|]+)", row["notes"]):
            reasons[title] = found[1].strip()
    return votes, reasons


def told_in_zotero(path: Path) -> dict[str, str]:
    made, tag = {}, ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("TY  - "):
            tag = ""
        if line.startswith("KW  - papershelf/"):
            tag = line.partition("/")[2]
        if line.startswith("TI  - ") and tag:
            made[plain(line[6:])] = tag
    return made


def settled(said: dict[str, str], *, by_text: bool = False) -> str:
    if "consensus" in said:
        return said["consensus"]
    words = set(said.values())
    if len(words) > 1 and "exclude" in words:
        return "conflict"
    if len(said) < 2 or (by_text and "maybe" in words):
        return "undecided"
    return "exclude" if words == {"exclude"} else "include"


# -- the play --------------------------------------------------------------------------------------


def test_every_number_of_the_figure_follows_from_the_raw_files(
    review: Review, library: Library, field: World, tmp_path: Path
) -> None:
    dice = random.Random(7)
    update = review.update()
    hits = {one.search.name: one.search.hits for one in update.searches}
    assert hits["PubMed"] == FIELD
    handed_out = raw_titles(field)
    assert {name: len(found) for name, found in handed_out.items()} == {
        name: hits[name] for name in handed_out
    }
    everywhere = set().union(*handed_out.values())
    records = rows_of_records(review)
    ours = [row for row in records if row["found_by"] == "databases"]
    others = [row for row in records if row["found_by"] == "other"]
    # Of the exports, every third is of the field, half of these without a DOI.
    known = len(range(0, FIELD, 3))
    assert len(ours) == len(everywhere) + EMBASE + 9
    assert len(others) == 12
    read = figure(review)
    assert read["database_specific_results"] == [
        *((name, len(found)) for name, found in handed_out.items()),
        ("Embase / Ovid", known + EMBASE),
    ]  # fmt: skip
    assert read["register_specific_results"] == [("ClinicalTrials.gov", 9)]
    assert read["citations_results"] == 17
    identified = sum(map(len, handed_out.values())) + known + EMBASE + 9
    assert read["database_results"] + read["register_results"] == identified
    assert read["duplicates"] == identified - len(ours)
    assert read["records_screened"] is read["dbr_assessed"] is None

    # They screen: half in Rayyan together, the rest in ASReview and Zotero apart.
    titles = [plain(row["title"]) for row in records]
    assert len(set(titles)) == len(titles)
    votes = wishes(titles, dice)
    half = {title: votes[title] for title in titles[::2]}
    rest = {title: votes[title] for title in titles[1::2]}
    files = {kind: review.export(kind)[0] for kind in ("rayyan", "asreview", "zotero")}
    folder = tmp_path / "decided"
    folder.mkdir()
    (folder / "rayyan_first.csv").write_text(
        in_rayyan(files["rayyan"], half, {}, dice), encoding="utf-8"
    )
    (folder / "asreview.csv").write_text(in_asreview(files["asreview"], rest), encoding="utf-8")
    (folder / "zotero.ris").write_text(in_zotero(files["zotero"], rest), encoding="utf-8")
    for name, told in (
        ("rayyan_first.csv", None),
        ("asreview.csv", None),
        ("zotero.ris", GivenFacts(screener="Ama")),
    ):
        done_ = review.read_decisions((folder / name).read_bytes(), name, told)
        assert not done_.unmatched
    first = {plain(s.record.paper.title or s.record.asked): s.first for s in review.standings()}
    conflicts = [row for row in records if first[plain(row["title"])] == "conflict"]
    assert len(conflicts) > 3
    # Over coffee they agree to exclude all of these but two.
    (folder / "review_7_irrelevant_csv_20261102.csv").write_text(
        in_covidence(conflicts[2:]), encoding="utf-8"
    )
    name = "review_7_irrelevant_csv_20261102.csv"
    assert not review.read_decisions((folder / name).read_bytes(), name).unmatched

    # Full texts, and what they say of them.
    done(review.harvest())
    states = states_of(library)
    sought = [one for one in review.standings() if one.is_sought]
    have = [s for s in sought if states.get(title_of(s)) == "full_text"]
    assert len(have) > 20
    second = wishes([title_of(one) for one in have[:-3]], dice)
    why = {title: dice.choice(REASONS) for title in second}
    rayyan = review.export("rayyan", stage="full_text")[0]
    (folder / "rayyan_second.csv").write_text(
        in_rayyan(rayyan, second, why, dice), encoding="utf-8"
    )
    review.read_decisions(
        (folder / "rayyan_second.csv").read_bytes(), "r.csv", GivenFacts(stage="full_text")
    )
    torn = [s for s in review.standings() if s.second == "conflict"]
    by_title = {plain(row["title"]): row for row in records}
    (folder / "eppi.json").write_text(
        in_eppi([by_title[title_of(s)] for s in torn[1:]]), encoding="utf-8"
    )
    told = GivenFacts(screener="consensus")
    review.read_decisions((folder / "eppi.json").read_bytes(), "eppi.json", told)

    held_against_the_files(review, folder, records, states)
    before = review.ledger.list_decisions()

    # Citations of what is included are searched; what that brings is counted from the world.
    found = review.snowball()
    assert not [note for note in found.notes if "could not" in note]
    expected = near(field, review, records)
    assert {name_of(one.paper.ids) for one in found.candidates} == expected
    assert len(found.candidates) == len(expected)
    read = figure(review)
    assert read["citations_results"] == 17 + len(expected)
    records = rows_of_records(review)
    held_against_the_files(review, folder, records, states)

    # A year later: one is retracted, and the world says so when it is asked again.
    time.sleep(365 * 86_400)
    papers = (one.record.paper for one in have)
    retracted = next(one for one in papers if one.ids.pmid and not one.retracted)
    happen(field, retracted.ids.pmid)
    later = review.update()
    assert not later.new
    assert not later.citing
    assert not later.silent
    assert [(one.outcome, plain(one.title)) for one in later.news] == [
        ("retracted", plain(retracted.title))
    ]
    assert review.ledger.list_decisions() == before
    [row, *_] = rows_of(review.folder / "changes.csv") if review.report() else []
    assert (row["outcome"], row["doi"]) == ("retracted", retracted.ids.doi)
    held_against_the_files(review, folder, records, states)
    assert [event.what for event in review.events()].count("update") == 2
    assert all(event.at and event.version for event in review.events())


def name_of(ids: Ids) -> str:
    """One name of a paper: works that only reference lists know have a DOI alone."""
    return ids.pmid or ids.doi


def near(world: World, review: Review, records: list[dict[str, str]]) -> set[str]:
    """What included reports cite and who cites them, but for what the review has already."""
    held = {row["pmid"] for row in records} | {row["doi"] for row in records}
    names: set[str] = set()
    for one in review.standings():
        if one.second == "include" and (record := world.record(one.record.paper.ids.pmid)):
            kin = [*kinship.cited(record, world), *kinship.citing(record, world)]
            names |= {other.pmid for other in kin} | {doi for *_, doi in references(record)}
    return names - held


def title_of(one: Any) -> str:
    return plain(one.record.paper.title or one.record.asked)


def rows_of_records(review: Review) -> list[dict[str, str]]:
    review.report()
    return rows_of(review.folder / "records.csv")


def states_of(library: Library) -> dict[str, str]:
    """What became of each text, from the harvest's own table."""
    papers = library.harvest(job_id="review-fields").report().with_name("papers.csv")
    rows = rows_of(papers)
    return {plain(row["title"] or row["asked"]): row["state"] for row in rows}


def happen(world: World, pmid: str) -> None:
    """Have a paper of the field retracted."""
    record = world.record(pmid)
    assert record
    world.put(replace(record, types=(*record.types, "Retracted Publication")))


def held_against_the_files(
    review: Review, folder: Path, records: list[dict[str, str]], states: dict[str, str]
) -> None:
    votes, reasons = counted_again(folder)
    arms = {plain(row["title"]): row["found_by"] for row in records}
    first = {title: settled(votes["first"].get(title, {})) for title in arms}
    judged = {title: settled(said, by_text=True) for title, said in votes["second"].items()}
    read = figure(review)
    ours = [title for title, arm in arms.items() if arm == "databases"]
    assert read["records_screened"] == sum(bool(votes["first"].get(title)) for title in ours)
    assert read["records_excluded"] == sum(
        first[title] == "exclude" and title not in judged for title in ours
    )
    for arm, name in (("databases", "dbr"), ("other", "other")):
        mine = [title for title in arms if arms[title] == arm]
        sought = [one for one in mine if first[one] == "include" or one in judged]
        lost = [t for t in sought if t not in judged and states[t] != "full_text"]
        assert read[f"{name}_sought_reports"] == len(sought)
        assert read[f"{name}_notretrieved_reports"] == len(lost)
        assessed = [title for title in sought if title in judged]
        assert read[f"{name}_assessed"] == (len(assessed) or None)
        out = Counter(reasons[title] for title in assessed if judged[title] == "exclude")
        listed = {words: n for words, n in read[f"{name}_excluded"] if n is not None}
        assert listed == dict(out)
    assert read["new_reports"] == sum(one == "include" for one in judged.values())
    assert read["new_studies"] == 7
    remarks = (review.folder / "prisma.svg").read_text(encoding="utf-8")
    conflicts = sum(one == "conflict" for one in first.values())
    assert (f"disagree, not resolved (n = {conflicts})" in remarks) is bool(conflicts)
    table = rows_of(review.folder / "conflicts.csv")
    named = {plain(row["title"]) for row in table}
    assert named == {
        *(title for title, one in first.items() if one == "conflict"),
        *(title for title, one in judged.items() if one == "conflict"),
    }
