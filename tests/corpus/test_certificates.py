"""A certificate says what was found where; who checks it believes nothing but the text."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.corpus.small_corpus import corpus_in, paper
from tests.examples import often
from tests.store.papers import save
from utils.corpus import Corpus
from utils.corpus.certificates import CONTEXT, check, parsed
from utils.errors import BadRequest
from utils.model.identifiers import Ids
from utils.store import paper_file

FILLER = " ".join(f"Line {n} of the log says little of anything." for n in range(60))
TEXT = f"""# On corals

## Results 🪸

{FILLER}

Growth of *Acropora* fell by 5.2 µm at 10<sup>3</sup> lux. Later, in “dim” tanks, it rose again.

## Discussion

{FILLER.replace("little", "much")} Sponges may be next, naïve as it sounds.
"""
GROWTH = "Growth of Acropora fell by 5.2 μm at 10³ lux"
SPONGES = "Sponges filter sea water all day. They rest at night."


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    yield from shelf_with(tmp_path_factory.mktemp("ours"), TEXT)


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    """Another machine's shelf with the same papers, under other headers."""
    yield from shelf_with(tmp_path_factory.mktemp("theirs"), TEXT, license="CC0")


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    """A shelf without these papers."""
    yield from shelf_with(tmp_path_factory.mktemp("bare"), "")


def shelf_with(folder: Path, text: str, **about: Any) -> Iterator[Corpus]:
    made = corpus_in(folder / "papers", vectors=False)
    if text:
        made.database.upsert([paper("1", title="Sponges", abstract=SPONGES)])
        coral = paper("2", ids=Ids(pmid="2", doi="10.1000/coral"), title="On corals")
        save(made.shelf, coral, text, **{"license": "CC BY 4.0", **about})
        list(made.index())
    yield made
    made.finder.close()
    made.database.close()
    made.shelf.close()


def certified(corpus: Corpus, quotation: str, paper: str = "") -> dict[str, Any]:
    made = corpus.certify(quotation, corpus.verify_quote(quotation, paper))
    return json.loads(json.dumps(made))


def outcome(row: Any, corpus: Corpus, text: Path | None = None) -> str:
    return check(parsed(row), corpus, text).outcome


def test_it_is_a_web_annotation(corpus: Corpus) -> None:
    """Members and types: W3C, Web Annotation Data Model, sections 3.1, 4.2.4 and 4.2.5."""
    row = certified(corpus, GROWTH)
    assert row["@context"] == CONTEXT
    assert row["@context"][0] == "http://www.w3.org/ns/anno.jsonld"
    assert row["type"] == "Annotation"
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", row["id"])
    assert row["body"] == {"type": "TextualBody", "value": GROWTH, "format": "text/plain"}
    (target,) = row["target"]
    quote, place = target["selector"]
    assert (quote["type"], place["type"]) == ("TextQuoteSelector", "TextPositionSelector")
    stored = corpus.shelf.find(Ids(pmid="2"))
    assert stored
    text = paper_file.body_of(corpus.shelf.read_text(stored))
    assert text[place["start"] : place["end"]] == quote["exact"]
    assert quote["exact"] == "Growth of *Acropora* fell by 5.2 µm at 10<sup>3</sup> lux"
    assert text[: place["start"]].endswith(quote["prefix"])
    assert text[place["end"] :].startswith(quote["suffix"])
    source = target["source"]
    assert source["id"] == "https://doi.org/10.1000/coral"
    assert source["sha256"] == sha256(text.encode()).hexdigest()
    assert (source["pmid"], source["license"]) == ("2", "CC BY 4.0")


@pytest.mark.parametrize(
    ("quotation", "paper", "targets"),
    [
        (GROWTH, "", 1),
        ("“Sponges may be next, nai\u0308ve as it sounds.”", "2", 1),
        ("Growth of Acropora fell by … in 'dim' tanks, it rose again", "", 2),
        ("Sponges filter sea water all day", "", 1),
        ("Sponges filter sea water all night", "1", 1),
        ("Growth of Acropora rose by 5.2 μm at 10³ lux", "2", 1),
        (f"{GROWTH}. Sponges may be next, naïve as it sounds.", "2", 2),
        (f"{GROWTH}. Sponges filter sea water all day.", "", 2),
    ],
)
def test_it_is_confirmed_on_another_machine(
    corpus: Corpus, theirs: Corpus, bare: Corpus, quotation: str, paper: str, targets: int
) -> None:
    row = certified(corpus, quotation, paper)
    assert len(row["target"]) == targets
    checked = check(parsed(row), theirs)
    assert checked.outcome == "confirmed"
    assert {one.outcome for one in checked.checks} == {"confirmed"}
    missing = check(parsed(row), bare)
    assert missing.outcome == "unclear"
    assert all("not on this shelf" in one.said for one in missing.checks if one.what == "words")


def test_it_has_no_more_of_a_text_than_is_quoted(corpus: Corpus) -> None:
    row = certified(corpus, "Growth of Acropora fell … in “dim” tanks, it rose again")
    for target in row["target"]:
        quote = target["selector"][0]
        assert max(len(quote["prefix"]), len(quote["suffix"])) <= 32
    assert "5.2" not in "".join(target["selector"][0]["exact"] for target in row["target"])
    assert FILLER[:80] not in json.dumps(row)


def test_nothing_is_certified_that_was_not_found(corpus: Corpus) -> None:
    with pytest.raises(BadRequest, match="no certificate"):
        certified(corpus, "Quarks zigzag beneath jovial llamas", "2")


@pytest.mark.parametrize("header", [False, True])
def test_a_text_that_is_given_is_enough(
    corpus: Corpus, bare: Corpus, tmp_path: Path, *, header: bool
) -> None:
    stored = corpus.shelf.find(Ids(pmid="2"))
    assert stored
    whole = corpus.shelf.read_text(stored)
    given = tmp_path / "text.txt"
    given.write_text(whole if header else paper_file.body_of(whole), newline="", encoding="utf-8")
    assert outcome(certified(corpus, GROWTH), bare, given) == "confirmed"
    given.write_text(TEXT.replace("5.2", "2.5"), newline="", encoding="utf-8")
    checked = check(parsed(certified(corpus, GROWTH)), bare, given)
    assert checked.outcome == "unclear"  # of another text: the certificate's may have the words
    told = " ".join(one.said for one in checked.checks)
    assert "of this paper was not checked" in told
    assert "number: “5.2" in told
    given.write_bytes(b"%PDF-1.7\xff\xfe")
    with pytest.raises(BadRequest, match="no text in UTF-8"):
        outcome(certified(corpus, GROWTH), bare, given)


def test_another_text_of_the_paper_may_have_the_words(corpus: Corpus, tmp_path: Path) -> None:
    anew = TEXT.replace(FILLER, "A shorter section.").replace("<sup>3</sup>", "³")
    for other in shelf_with(tmp_path, anew):
        checked = check(parsed(certified(corpus, GROWTH)), other)
        assert checked.outcome == "confirmed"
        assert [one.outcome for one in checked.checks if one.what == "text"] == ["unclear"]
        assert f"this {len(paper_file.body_of(anew)):,}" in checked.checks[0].said


def _without_quotation(row: dict[str, Any]) -> None:
    row["body"]["value"] = row["body"]["value"].replace("fell", "rose")


def _moved(row: dict[str, Any]) -> None:
    place = row["target"][0]["selector"][1]
    place["start"] += 1
    place["end"] += 1


def _other_words(row: dict[str, Any]) -> None:
    quote = row["target"][0]["selector"][0]
    quote["exact"] = quote["exact"].replace("5.2", "9.2")


def _other_verdict(row: dict[str, Any]) -> None:
    row["verdict"] = "near"


@pytest.mark.parametrize("forge", [_without_quotation, _moved, _other_words, _other_verdict])
def test_what_was_changed_is_refuted(corpus: Corpus, theirs: Corpus, forge: Any) -> None:
    row = certified(corpus, GROWTH, "2")
    forge(row)
    assert outcome(row, theirs) == "refuted"


def test_a_quotation_of_several_papers_is_accounted_for(corpus: Corpus, theirs: Corpus) -> None:
    row = certified(corpus, f"{GROWTH}. Sponges filter sea water all day.")
    assert row["verdict"] == "near"
    assert row["differences"] == [
        "stitched: “Sponges filter sea water all day” stands elsewhere, in pmid:1"
    ]
    called = {**copy.deepcopy(row), "verdict": "verbatim"}
    assert outcome(called, theirs) == "refuted"
    longer = copy.deepcopy(row)
    longer["body"]["value"] += " They never rest in the dark."
    assert outcome(longer, theirs) == "refuted"


@pytest.mark.parametrize(
    "name", ["../../outside", "/etc/hostname", "2/../../1", "file:2", "2\x00", "pmid:2", 2, ["2"]]
)
def test_a_name_that_is_no_identifier_leads_nowhere(
    corpus: Corpus, theirs: Corpus, name: object
) -> None:
    row = certified(corpus, GROWTH)
    source = row["target"][0]["source"]
    del source["doi"]
    source |= {"pmid": name, "file": "../../outside.txt", "id": "file:///etc/hostname"}
    assert outcome(row, theirs) == "unclear"


def test_torn_ones_are_refused(corpus: Corpus, tmp_path: Path) -> None:
    data = json.dumps(certified(corpus, GROWTH)).encode()
    file = tmp_path / "torn.json"
    for size in (0, 1, *range(7, len(data), 61), len(data) - 1):
        file.write_bytes(data[:size])
        with pytest.raises(BadRequest, match=r"torn\.json"):
            corpus.check_certificate(file)
    file.write_bytes(b"[" * 100_000)
    with pytest.raises(BadRequest, match=r"torn\.json"):
        corpus.check_certificate(file)
    file.write_bytes(b" " * 1_000_001)
    with pytest.raises(BadRequest, match="larger than 1 MB"):
        corpus.check_certificate(file)


_ANY = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=9), st.just([]),
    st.just({}),
)  # fmt: skip


@often(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10_000), _ANY)
def test_any_value_is_refused_or_judged(corpus: Corpus, number: int, value: Any) -> None:
    """Whatever stands in place of one value: no crash, and nothing false is confirmed."""
    row = certified(corpus, GROWTH, "2")
    places = list(_places(row))
    *way, last = places[number % len(places)]
    at: Any = row
    for step in way:
        at = at[step]
    before, at[last] = at[last], value
    try:
        said = outcome(row, corpus)
    except BadRequest:
        return
    counts = {"exact", "prefix", "start", "end", "value", "verdict"}
    if last in counts and value != before and value != "":
        assert said != "confirmed"


def _places(value: Any, *way: Any) -> Iterator[tuple[Any, ...]]:
    if way:
        yield way
    inside = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for name, one in inside:
        yield from _places(one, *way, name)
