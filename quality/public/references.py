"""Score the check of references, and the fields read from printed references, on public sets.

Sets
----
- ``benchmark.json`` (9,442 citations: 6,475 true, 2,967 with a fault) of the repository
  ``shiiiikw/CiteAudit`` (``data``; no licence file: to be measured, not passed on).
- Answers that Crossref, OpenAlex, Semantic Scholar and DBLP gave when their authors recorded them:
  ``tests/fixtures/test_cache/api_cache`` of ``markrussinovich/refchecker`` (MIT).
- References with labelled fields, for training GROBID:
  ``grobid-trainer/resources/dataset/citation/corpus`` of ``kermitt2/grobid`` (Apache-2).

Method
------
No site is asked. All records of the recorded answers form an index, which answers a search by title
as a site would. A citation can be answered if the index has a record with nearly its title (8 words
of 10, counted on both sides) and the family name of an author, or with its whole title. All others
are *could not tell*, and are counted as such.

CiteAudit's second group is made of records of arXiv: its faulty citations are changed copies of
true ones. The true ones serve as arXiv's records for the faulty ones, and are not scored
themselves, because each would be compared with itself.

The first half of each group, in the order of the SHA-256 of its text, is for tuning. Of GROBID's
files, those with an even number in the order of their names are.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any
from unittest.mock import patch

from lxml import etree

from utils.http import Web
from utils.judges.titles import count_distinctive_words, split_title_words
from utils.lists.described import parse_author_name, split_author_names
from utils.manuscript.printed import parse_printed_reference
from utils.manuscript.printed_comparison import find_title_in_entry
from utils.manuscript.printed_entries import extract_printed_fields
from utils.manuscript.references import CheckedReference, check_references
from utils.model.identifiers import Ids
from utils.model.paper import Author, Paper
from utils.outline.words import fold_words
from utils.search.reference_search import WantedReference
from utils.settings import Settings
from utils.shelf import Shelf
from utils.sources import crossref, openalex

SAME_TITLE_LIKENESS = 0.8
WHOLE_TITLE_LIKENESS = 0.95
DISTINCTIVE_WORDS = 4
_MAX_HITS = 5
_FREQUENT_WORD = 400  # records with a word that then helps no search
_INITIALS = r"(?<!\b[A-Z])(?<!\bJr)"
# A sentence with two words in small letters that are no part of names.
_OTHER_TITLE = re.compile(
    r"(?:^|[.?!] )(?:[^.?!]*? (?!and |et |al\b|de |der |van |von |di |la )[a-z]{2,}){2}"
    r"[^.?!]*[.?!]\s"
)
Fields = Mapping[str, str]


class RecordIndex:
    """Records by the words of their titles."""

    def __init__(self, records: Iterable[Paper]) -> None:
        self.records = [one for one in records if len(split_title_words(one.title)) > 2]
        self.by_name = {name: one for one in self.records for name in one.ids.names()}
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        self._titles = [split_title_words(one.title) for one in self.records]
        for at, words in enumerate(self._titles):
            for word in set(words):
                self._places[word].append(at)

    def search(self, text: str, most: int = _MAX_HITS) -> list[Paper]:
        """Return the records that share most words of their titles with a text."""
        shared: Counter[int] = Counter()
        for word in set(split_title_words(text)):
            if len(self._places[word]) < _FREQUENT_WORD:
                shared.update(self._places[word])
        ranked = sorted(shared, key=lambda at: (-shared[at] / len(set(self._titles[at])), at))
        return [self.records[at] for at in ranked[:most]]

    def has_title(self, citation: str) -> bool:
        """Return whether a record has a citation's title and an author, or a telling title whole.

        Records without authors are journals and proceedings, which citations name as places.
        """
        words = set(fold_words(citation))
        for one in self.search(citation, 5 * _MAX_HITS):
            likeness = measure_likeness(citation, one.title) if one.authors else 0.0
            names = {word for who in one.authors for word in fold_words(who.family)[-1:]}
            if likeness >= SAME_TITLE_LIKENESS and names & words:
                return True
            if (
                likeness >= WHOLE_TITLE_LIKENESS
                and count_distinctive_words(one.title) >= DISTINCTIVE_WORDS
            ):
                return True
        return False


def measure_likeness(citation: str, title: str) -> float:
    """Return the likeness of a title and the part of a citation that comes nearest to it.

    It is 0 behind another title: there a citation names the book or journal.
    """
    span = find_title_in_entry(citation, title)
    if span is None or _OTHER_TITLE.search(citation[: span.start]):
        return 0.0
    ours, theirs = split_title_words(citation[span.start : span.end]), split_title_words(title)
    return SequenceMatcher(None, ours, theirs, autojunk=False).ratio()


# -- records ---------------------------------------------------------------------------------------


def read_recorded_answers(folder: Path) -> Iterator[Paper]:
    """Yield the records in RefChecker's recorded answers."""
    readers: Mapping[str, Callable[[dict[str, Any]], Paper]] = {
        "crossref": crossref._to_found_paper,
        "openalex": openalex.to_paper,
        "dblp": _read_dblp,
        "semantic_scholar": _read_semantic_scholar,
    }
    for path in sorted(folder.glob("*/*.json")):
        if reader := readers.get(path.parent.name):
            answer = json.loads(path.read_text(encoding="utf-8"))
            for record in answer if isinstance(answer, list) else [answer]:
                if isinstance(record, dict) and (record.get("title") or record.get("info")):
                    yield reader(record)


def _read_dblp(record: dict[str, Any]) -> Paper:
    info = record["info"]
    named = (info.get("authors") or {}).get("author", [])
    authors = named if isinstance(named, list) else [named]
    return Paper(
        Ids.maybe(info.get("doi") or "") or Ids(doi=f"10.9999/dblp.{record['@id']}"),
        title=info["title"],
        authors=tuple(to_author(re.sub(r" \d{4}$", "", one["text"])) for one in authors),
        published=info.get("year", ""),
        journal=str(info.get("venue", "")),
    )


def _read_semantic_scholar(record: dict[str, Any]) -> Paper:
    ids = record.get("externalIds") or {}
    number = ids.get("CorpusId")
    return Paper(
        Ids.maybe(ids.get("DOI") or ids.get("ArXiv") or "") or Ids(doi=f"10.9999/s2.{number}"),
        title=record.get("title") or "",
        authors=tuple(to_author(one.get("name") or "") for one in record.get("authors") or []),
        published=str(record.get("year") or ""),
        journal=record.get("venue") or "",
    )


def read_arxiv_records(citations: Sequence[str]) -> Iterator[Paper]:
    """Yield the records behind CiteAudit's true citations made from arXiv's records."""
    for number, citation in enumerate(citations):
        parts = re.split(rf"{_INITIALS}\. ", citation.removesuffix("."))
        if len(parts) > 2 and re.fullmatch(r"\d{4}", parts[-1]):
            names = re.split(r",? and |, ", parts[0])
            yield Paper(
                Ids(arxiv=f"9912.{number:05}"),
                title=". ".join(parts[1:-1]),
                authors=tuple(map(to_author, names)),
                published=parts[-1],
                publication_types=("Preprint",),
            )


def to_author(name: str) -> Author:
    """Return an author whose family name is the last word."""
    given, _, family = name.strip().rpartition(" ")
    return Author(family=family, given=given)


# -- verdicts --------------------------------------------------------------------------------------


@dataclass
class VerdictScore:
    """Counts of one half: true and faulty citations, by what the check says of them."""

    true: Counter[str] = field(default_factory=Counter)
    faulty: Counter[str] = field(default_factory=Counter)
    fields: Counter[str] = field(default_factory=Counter)
    mistakes: list[str] = field(default_factory=list)

    def add(self, checked: CheckedReference | None, citation: str, *, is_true: bool) -> None:
        """Count one citation; *checked* is None if no record can answer it."""
        verdict = judge(checked)
        (self.true if is_true else self.faulty)[verdict] += 1
        if checked and verdict == "cited wrongly":
            self.fields.update(one.partition(":")[0] for one in checked.differences)
        if verdict == "as cited" if not is_true else verdict in ("cited wrongly", "not found"):
            said = checked.differences if checked else ()
            self.mistakes.append(f"{'true' if is_true else 'faulty'}: {citation} {said}")


def judge(checked: CheckedReference | None) -> str:
    """Return the answer in words for a person."""
    if checked is None:
        return "no record"
    words = {"verified": "as cited", "differs": "cited wrongly", "wrong_paper": "cited wrongly"}
    words |= {"not_found": "not found"}
    return words.get(checked.status, "could not tell")


def check_citations(citations: Sequence[str], index: RecordIndex) -> list[CheckedReference]:
    """Check citations as ``papershelf check`` does, with an index in place of all sites."""

    def ask_index(wanted: Sequence[WantedReference], *_: object) -> None:
        for one in wanted:
            one.found += [(paper, "index") for paper in index.search(one.paper.title)]

    def look_up(named: Sequence[Ids], *_: object) -> dict[Ids, Paper]:
        return {ids: index.by_name[name] for ids in named for name in ids.names()
                if name in index.by_name}  # fmt: skip

    references = [parse_printed_reference(str(at), one) for at, one in enumerate(citations)]
    references = [  # identifiers that the index does not have could not be looked up
        one if set(one.ids.names()) & index.by_name.keys() else replace(one, ids=Ids())
        for one in references
    ]
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            papers_dir=Path(folder),
            papers_pace_dir=Path(folder),
            pubmed_email="checks@papershelf.invalid",
        )
        web, shelf = Web(settings, ()), Shelf(Path(folder))
        with (
            patch("utils.search.resolve.STEPS", (ask_index,)),
            patch("utils.manuscript.references.look_up_records", look_up),
            patch("utils.manuscript.references.find_by_title", ask_index),
            patch("utils.manuscript.references.find_at_crossref", ask_index),
        ):
            return check_references(references, web, shelf, ())


def split_halves(texts: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the half for tuning and the half for scoring, by SHA-256 of the text."""
    ordered = sorted(texts, key=lambda text: hashlib.sha256(text.encode()).hexdigest())
    middle = (len(ordered) + 1) // 2
    return ordered[:middle], ordered[middle:]


def score_verdicts(benchmark: Path, answers: Path, *, second: bool) -> dict[str, VerdictScore]:
    """Score one half of CiteAudit: its real citations, and those made from arXiv's records."""
    groups: dict[tuple[str, bool], list[str]] = {}
    for one in json.loads(benchmark.read_text(encoding="utf-8"))["data"]:
        groups.setdefault((one["source_type"], one["GT"]), []).append(one["citation"])
    recorded = RecordIndex(read_recorded_answers(answers))
    originals = RecordIndex(read_arxiv_records(groups["generated", True]))
    made = {"recorded answers": VerdictScore(), "changed copies": VerdictScore()}
    for (kind, is_true), citations in groups.items():
        half = split_halves(citations)[second]
        is_copy = kind == "generated" and not is_true
        index = originals if is_copy else recorded
        score = made["changed copies" if is_copy else "recorded answers"]
        answerable = [one for one in half if index.has_title(one)]
        checked = dict(zip(answerable, check_citations(answerable, index), strict=True))
        for citation in half:
            score.add(checked.get(citation), citation, is_true=is_true)
    return made


def print_verdicts(name: str, score: VerdictScore) -> None:
    """Print the counts of one set and the figures made of them."""
    good, bad = score.true, score.faulty
    accused = good["cited wrongly"] + good["not found"]
    found = bad["cited wrongly"] + bad["not found"]
    asked = good.total() + bad.total() - good["no record"] - bad["no record"]
    judged = asked - good["could not tell"] - bad["could not tell"]
    right = good["as cited"] + found
    sys.stdout.write(
        f"{name}: {good.total() + bad.total()} citations, {asked} can be answered, "
        f"{judged} judged; accuracy {right / max(1, judged):.4f} of the judged, "
        f"{right / max(1, asked):.4f} of all that can be answered\n"
        f"  true: {dict(sorted(good.items()))}; accused {accused}\n"
        f"  faulty: {dict(sorted(bad.items()))}; fields {dict(score.fields)}\n"
    )


# -- fields ----------------------------------------------------------------------------------------

FIELDS = ("title", "authors", "journal", "volume", "first page", "year")


def read_labelled_references(folder: Path, *, second: bool) -> Iterator[tuple[str, Fields]]:
    """Yield the text and the labelled fields of GROBID's references, from every other file."""
    for path in sorted(folder.glob("*.xml"))[1 if second else 0 :: 2]:
        root = etree.parse(str(path), etree.XMLParser(recover=True)).getroot()
        for entry in root.iter("{*}bibl"):
            text = " ".join("".join(map(str, entry.itertext())).split())
            if text:
                yield text, _read_labels(entry)


def _read_labels(entry: Any) -> Fields:
    def get(name: str, **attributes: str) -> str:
        return " ".join(
            " ".join("".join(map(str, one.itertext())).split())
            for one in entry.iter(f"{{*}}{name}")
            if all(one.get(key) in values.split() for key, values in attributes.items())
        )

    return to_comparable(
        {
            "title": get("title", level="a") or get("title", level="m"),
            "authors": get("author"),
            "journal": get("title", level="j"),
            "volume": get("biblScope", type="vol", unit="volume")
            or get("biblScope", type="vol") or get("biblScope", unit="volume"),
            "first page": get("biblScope", type="pp") or get("biblScope", unit="page"),
            "year": get("date"),
        }
    )  # fmt: skip


def to_comparable(fields: Fields) -> Fields:
    """Return fields as letters and digits: families of authors, first page, year."""
    names = split_author_names(
        re.sub(r"\s(?:et|und|y)\s(?!al\b)", " and ", fields.get("authors", ""))
    )
    families = [parse_author_name(name).family for name in names if name.strip()]
    page = re.search(r"\w*\d+", fields.get("first page", ""))
    year = re.search(r"\b(?:18|19|20)\d\d", fields.get("year", ""))
    shown = dict(fields) | {
        "authors": families[0] if families else "",
        "first page": page[0] if page else "",
        "year": year[0] if year else "",
    }
    return {name: "".join(split_title_words(shown.get(name, ""))) for name in FIELDS}


def parse_with_papershelf(text: str) -> Fields:
    """Return the fields that Papershelf reads from a printed reference."""
    paper = extract_printed_fields(text)
    return to_comparable(
        {
            "title": paper.title,
            "authors": paper.authors[0].name if paper.authors else "",
            "journal": paper.journal,
            "volume": paper.volume,
            "first page": paper.pages,
            "year": paper.year,
        }
    )


def parse_with_refextract(texts: Sequence[str], python: Path) -> list[Fields]:
    """Return the fields that refextract reads, with the Python that it is installed for."""
    script = (
        "import json,sys,logging;logging.disable(50);"
        "from refextract import extract_references_from_string as read\n"
        "for line in sys.stdin:\n"
        "    try: found=read(json.loads(line))\n"
        "    except Exception: found=[]\n"
        "    print(json.dumps(found[0] if found else {}))"
    )
    lines = "".join(f"{json.dumps(text)}\n" for text in texts)
    done = subprocess.run(
        [str(python), "-c", script], input=lines, capture_output=True, text=True, check=True
    )
    read = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return [
        to_comparable(
            {
                "title": " ".join(one.get("title", ())),
                "authors": " ".join(one.get("author", ())),
                "journal": " ".join(one.get("journal_title", ())),
                "volume": " ".join(one.get("journal_volume", ())),
                "first page": " ".join(one.get("journal_page", ())),
                "year": " ".join(one.get("year", one.get("journal_year", ()))),
            }
        )
        for one in read
    ]


def print_fields(name: str, labelled: Sequence[Fields], read: Sequence[Fields]) -> None:
    """Print the F1 of each field: a value is right if its letters and digits are the label's."""
    figures = []
    for one in FIELDS:
        pairs = [(label[one], got[one]) for label, got in zip(labelled, read, strict=True)]
        right = sum(label == got != "" for label, got in pairs)
        given = sum(bool(label) for label, _ in pairs) + sum(bool(got) for _, got in pairs)
        figures.append(f"{one} {2 * right / max(1, given):.3f}")
    sys.stdout.write(f"{name}: {len(labelled):,} references; F1 {', '.join(figures)}\n")


def main() -> int:
    """Print the scores of the sets that were named, on the half for tuning unless told."""
    parser = argparse.ArgumentParser(
        prog="python -m quality.public.references", description=__doc__
    )
    parser.add_argument("--citations", type=Path, metavar="benchmark.json")
    parser.add_argument("--answers", type=Path, metavar="FOLDER", help="RefChecker's api_cache")
    parser.add_argument("--labelled", type=Path, metavar="FOLDER", help="GROBID's corpus")
    parser.add_argument("--refextract", type=Path, metavar="PYTHON", help="a Python that has it")
    parser.add_argument("--second", action="store_true", help="the half that is kept for scoring")
    parser.add_argument("--mistakes", action="store_true", help="print them (tuning half only)")
    options = parser.parse_args()
    if options.citations and options.answers:
        scores = score_verdicts(options.citations, options.answers, second=options.second)
        for name, score in scores.items():
            print_verdicts(name, score)
            if options.mistakes:
                sys.stdout.writelines(f"  {line}\n" for line in score.mistakes)
    if options.labelled:
        rows = list(read_labelled_references(options.labelled, second=options.second))
        texts, labelled = [text for text, _ in rows], [fields for _, fields in rows]
        print_fields("Papershelf", labelled, list(map(parse_with_papershelf, texts)))
        if options.refextract:
            print_fields("refextract", labelled, parse_with_refextract(texts, options.refextract))
    return 0


if __name__ == "__main__":
    sys.exit(main())
