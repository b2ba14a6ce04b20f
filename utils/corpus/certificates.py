"""A quotation's certificate: what was found where, to be checked on another machine, offline.

A W3C Web Annotation (https://www.w3.org/TR/annotation-model/) in JSON: its body is the quotation,
each target a stretch of a text by words (TextQuoteSelector) and by characters
(TextPositionSelector), its source the text's paper with the SHA-256 of the text. A text is a file
without the header that says when it was fetched, or title, blank line and abstract of a record. The
certificate has the quotation, the words that answer it and a few beside them, never a whole text.

Who checks one trusts no word of it: the quotation is judged again on a text that is here.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..errors import BadRequest
from ..model.identifiers import Ids
from ..model.paper import Version, now
from ..passages.differences import compared, sentences_of
from ..passages.wording import FoldedText, parse
from ..store import paper_file
from ..system.plain_text import one_line
from ..system.safe_files import disk
from ..system.version import version
from .quotations import verdict_on
from .texts import Text, text_named, title_and_abstract

if TYPE_CHECKING:
    from . import Corpus
    from .quotations import Piece, Quotation, Verdict

CONTEXT = ["http://www.w3.org/ns/anno.jsonld", {"@vocab": "urn:papershelf:"}]
MOST_BYTES, MOST_TEXT = 1_000_000, 50_000_000
_BESIDE = (
    32  # characters before and after, by which a stretch is told from others of the same words
)
_MOST_TARGETS = 50
_LONGEST_EXACT = 20_000
_SHOWN = 160
_VERSIONS: tuple[Version, ...] = ("published", "accepted", "preprint")
_HINT = "Ask for the certificate again, or make one: server.py quote TEXT --certificate FILE."
_PAGES = {
    "doi": "https://doi.org/{}",
    "pmid": "https://pubmed.ncbi.nlm.nih.gov/{}/",
    "pmcid": "https://pmc.ncbi.nlm.nih.gov/articles/{}/",
    "arxiv": "https://arxiv.org/abs/{}",
}
Outcome = Literal["confirmed", "refuted", "unclear"]
"""Of a check: ``unclear`` where it could not be made, and nothing speaks against it."""


@dataclass(frozen=True, slots=True)
class Target:
    """A stretch of a text as a certificate has it; ``digest`` and ``length`` are the whole text's.

    ``start`` and ``end`` count characters (Unicode code points) of the text.
    """

    ids: Ids
    kind: str
    version: str
    digest: str
    length: int
    exact: str
    prefix: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a certificate says: the quotation, the verdict on it, and where its words stand."""

    quotation: str
    verdict: Verdict
    created: str
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was checked, how it ended, and in words why.

    ``text``: whether it is the same by its digest; ``words``: whether they stand there;
    ``verdict``: whether the quotation is what the certificate calls it.
    """

    what: Literal["text", "words", "verdict"]
    outcome: Outcome
    said: str


@dataclass(frozen=True, slots=True)
class Checked:
    """A certificate, and what became of each check of it."""

    certificate: Certificate
    checks: tuple[Check, ...]

    @property
    def outcome(self) -> Outcome:
        """``refuted`` where one check is, else ``unclear`` where one could not be made.

        That words and verdict are right in another text of the paper is enough.
        """
        outcomes = {check.outcome for check in self.checks if check.what != "text"}
        if "refuted" in outcomes:
            return "refuted"
        return "unclear" if "unclear" in outcomes else "confirmed"


def certificate(quotation: str, found: Quotation, corpus: Corpus) -> dict[str, Any]:
    """The certificate of a quotation that was found, verbatim or nearly.

    Parameters
    ----------
    quotation : str
        As it was asked for.
    found : Quotation
        The answer to it.
    corpus : Corpus

    Raises
    ------
    BadRequest
        Nothing like it was found, so that there is nothing to certify.
    """
    if found.verdict == "absent":
        msg = "There is no certificate for what was not found: it may stand in other papers."
        raise BadRequest(msg, "Download the paper that is quoted, and ask again.")
    row = {
        "@context": CONTEXT,
        "type": "Annotation",
        "motivation": "assessing",
        "created": now(),
        "generator": {"type": "Software", "name": f"Papershelf {version()}"},
        "body": {"type": "TextualBody", "value": quotation.strip(), "format": "text/plain"},
        "verdict": found.verdict,
        "differences": [str(one) for one in found.differences],
        "target": [_target(piece, corpus) for piece in found.pieces],
    }
    name = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(row, sort_keys=True))
    return {"@context": CONTEXT, "id": f"urn:uuid:{name}", **row}


def _target(piece: Piece, corpus: Corpus) -> dict[str, Any]:
    named = text_named(piece.file or piece.paper, corpus)
    text, before = _text_of(named, piece.file, corpus)
    start, end = piece.start - before, piece.end - before
    return {
        "type": "SpecificResource",
        "source": _source(named, piece.file, text),
        "selector": [
            {
                "type": "TextQuoteSelector",
                "exact": text[start:end],
                "prefix": text[max(0, start - _BESIDE) : start],
                "suffix": text[end : end + _BESIDE],
            },
            {"type": "TextPositionSelector", "start": start, "end": end},
        ],
    }


def _source(named: Text, file: str, text: str) -> dict[str, Any]:
    """The paper of a text, which text of it this is, and where it came from."""
    paper, stored = named.paper, named.stored if file else None
    names = {name: value for name in _PAGES if (value := getattr(paper.ids, name))}
    page = next((_PAGES[name].format(names[name]) for name in names), "")
    return {
        **({"id": page} if page else {}),
        "type": "Text",
        "format": "text/markdown" if stored else "text/plain",
        **names,
        "title": paper.title,
        "kind": "full_text" if stored else "abstract",
        "textVersion": stored.version if stored else "",
        "license": stored.license if stored else paper.license,
        "via": stored.via if stored else paper.recorded_by,
        "sha256": _digest(text),
        "characters": len(text),
    }


def _text_of(named: Text, file: str, corpus: Corpus) -> tuple[str, int]:
    """A text without our header, and how many characters the header has."""
    if not file:
        return title_and_abstract(named.paper), 0
    whole = named.read(corpus.shelf)
    text = paper_file.body_of(whole)
    return text, len(whole) - len(text)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_certificate(path: Path) -> Certificate:
    """Read a certificate that somebody handed over.

    Raises
    ------
    BadRequest
        It is none, is too large, or a part of it is malformed; the message says which.
    StoreFailed
        The file cannot be read.
    """
    return read_json(_bytes_of(path, MOST_BYTES), one_line(path.name))


def read_json(data: str | bytes, name: str) -> Certificate:
    """A certificate from its JSON as text; errors call it by *name*.

    Raises
    ------
    BadRequest
        It is none, or a part of it is malformed.
    """
    try:
        row = json.loads(data)
    except (ValueError, RecursionError):
        raise BadRequest(f"{name} is not whole JSON.", _HINT) from None
    try:
        return parsed(row)
    except BadRequest as wrong:
        raise BadRequest(f"{name} {wrong.message}.", _HINT) from None


def parsed(row: Any) -> Certificate:
    """A certificate from its JSON.

    Raises
    ------
    BadRequest
        It is none, or a part of it is malformed.
    """
    if not isinstance(row, dict) or row.get("type") != "Annotation":
        raise BadRequest("is no annotation", _HINT)
    body, targets = row.get("body"), row.get("target")
    targets = [targets] if isinstance(targets, dict) else targets
    if not isinstance(body, dict) or not isinstance(body.get("value"), str):
        raise BadRequest("has no quotation as its body", _HINT)
    parse(body["value"])  # one that can be judged
    if not isinstance(targets, list) or not 0 < len(targets) <= _MOST_TARGETS:
        raise BadRequest(f"has no targets, or more than {_MOST_TARGETS}", _HINT)
    if row.get("verdict") not in ("verbatim", "near"):
        raise BadRequest("has no verdict of a quotation", _HINT)
    return Certificate(
        body["value"],
        row["verdict"],
        one_line(str(row.get("created", "")))[:40],
        tuple(_parse_target(number, target) for number, target in enumerate(targets, 1)),
    )


def _parse_target(number: int, row: Any) -> Target:
    source = row.get("source") if isinstance(row, dict) else None
    selectors = row.get("selector") if isinstance(row, dict) else None
    if not isinstance(source, dict) or not isinstance(selectors, list):
        raise BadRequest(f"has no source or selectors in target {number}", _HINT)
    by_type = {str(one.get("type")): one for one in selectors if isinstance(one, dict)}
    quote = by_type.get("TextQuoteSelector", {})
    place = by_type.get("TextPositionSelector", {})
    words = [quote.get(name, "") for name in ("exact", "prefix")]
    numbers: list[Any] = [place.get("start"), place.get("end"), source.get("characters")]
    if not all(isinstance(one, str) for one in words) or not words[0].strip():
        raise BadRequest(f"has no words in target {number}", _HINT)
    if not all(type(one) is int and one >= 0 for one in numbers):
        raise BadRequest(f"has no places in target {number}", _HINT)
    if len(words[0]) > _LONGEST_EXACT or numbers[1] - numbers[0] != len(words[0]):
        raise BadRequest(f"has words of another length than its places in target {number}", _HINT)
    digest = source.get("sha256")
    if not isinstance(digest, str) or not re.fullmatch("[0-9a-f]{64}", digest):
        raise BadRequest(f"has no SHA-256 of the text in target {number}", _HINT)
    kind, of = (one_line(str(source.get(name, "")))[:20] for name in ("kind", "textVersion"))
    return Target(
        _ids(source), kind, of, digest, numbers[2], words[0], words[1], numbers[0], numbers[1]
    )


def _ids(source: Mapping[str, Any]) -> Ids:
    """The identifiers of a paper; what has not the form of one is left out."""
    names = {}
    for name in _PAGES:
        value = source.get(name)
        if isinstance(value, str) and getattr(Ids.maybe(value), name) == value:
            names[name] = value
    return Ids(**names)


def check(given: Certificate, corpus: Corpus, text: Path | None = None) -> Checked:
    """Check a certificate, offline, on the texts of the shelf or a file.

    Parameters
    ----------
    given : Certificate
    corpus : Corpus
    text : Path, optional
        The text that was quoted; else the papers are looked for on the shelf and in the corpus.

    Raises
    ------
    StoreFailed
        The file of the text cannot be read.
    BadRequest
        It is too large, or no text.
    """
    whole = _text_given(text) if text else None
    checks: list[Check] = []
    for target in given.targets:
        texts = _here(target, corpus) if whole is None else [whole]
        checks += _checked(target, given, texts, by_hand=whole is not None)
    if len({target.ids for target in given.targets}) > 1:
        checks.append(_check_stitched(given))
    return Checked(given, tuple(dict.fromkeys(checks)))


def _text_given(path: Path) -> str:
    try:
        return paper_file.body_of(_bytes_of(path, MOST_TEXT).decode("utf-8"))
    except UnicodeDecodeError:
        msg = f"{one_line(path.name)} is no text in UTF-8."
        raise BadRequest(msg, "Give the text itself, no PDF.") from None


def _bytes_of(path: Path, most: int) -> bytes:
    with disk(path, "read"), path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise _malformed(path, f"is larger than {most // 1_000_000} MB")
    return data


def _malformed(path: Path, what: str) -> BadRequest:
    return BadRequest(f"{one_line(path.name)} {what}.", _HINT)


def _here(target: Target, corpus: Corpus) -> list[str]:
    """The texts of a paper that are here, the one with the target's digest first."""
    texts = dict.fromkeys(_texts_here(target.ids, corpus))
    return sorted(texts, key=lambda one: _digest(one) != target.digest)


def _texts_here(ids: Ids, corpus: Corpus) -> Iterator[str]:
    """Every text of a paper: its versions on the shelf, and what its records say."""
    for wanted in _VERSIONS:
        if stored := corpus.shelf.find(ids, wanted):
            if stored.kind == "full_text":
                yield paper_file.body_of(corpus.shelf.read_text(stored))
            yield title_and_abstract(stored.paper)
    record = corpus.database.record(ids.pmid) if ids.pmid else None
    if record and not record.gone:
        yield title_and_abstract(record.paper)


def _checked(
    target: Target, given: Certificate, texts: Sequence[str], *, by_hand: bool
) -> Iterator[Check]:
    """What can be said of one target, by the first of the *texts* of its paper."""
    name = str(target.ids) or "A paper without identifiers"
    if not texts:
        missing = f"{name} is not on this shelf. Download it, or give its text: --text FILE."
        yield Check("words", "unclear", missing)
        return
    text = texts[0]
    if is_same := _digest(text) == target.digest:
        yield Check("text", "confirmed", f"{name}: the same text, by its SHA-256.")
        yield _check_place(target, text, name)
    else:
        yield Check("text", "unclear", _another(target, text, name, by_hand=by_hand))
        yield _check_words(target, text, name)
    if len({one.ids for one in given.targets}) == 1:
        yield _check_verdict(given, text, name, is_same=is_same)


def _another(target: Target, text: str, name: str, *, by_hand: bool) -> str:
    of = " ".join(filter(None, (target.version, target.kind.replace("_", " ")))) or "text"
    lengths = f"the certificate's ({of}) has {target.length:,} characters, this {len(text):,}"
    said = f"{name}: another text, of another version or read anew: {lengths}."
    return f"{said} Whether the file is of this paper was not checked." if by_hand else said


def _check_place(target: Target, text: str, name: str) -> Check:
    """Whether the words stand at their place in the same text."""
    place = f"[{target.start}:{target.end}]"
    before = text[max(0, target.start - len(target.prefix)) : target.start]
    if text[target.start : target.end] == target.exact and before == target.prefix:
        return Check("words", "confirmed", f"{name}: the words stand at {place}.")
    there = one_line(text[target.start : target.end])[:_SHOWN] or "nothing"
    return Check("words", "refuted", f"{name}: at {place} the text has “{there}”.")


def _check_words(target: Target, text: str, name: str) -> Check:
    """Whether another text of the paper has the words, wherever."""
    wording = FoldedText.of(text)
    exact = FoldedText.of(target.exact).words.strip()
    if (at := wording.find(exact)) >= 0:
        start, end = wording.place(at, at + len(exact))
        return Check("words", "confirmed", f"{name}: the words stand at [{start}:{end}] here.")
    return Check("words", "unclear", f"{name}: this text has not the words of the certificate's.")


def _check_verdict(given: Certificate, text: str, name: str, *, is_same: bool) -> Check:
    """Judge the quotation again; only the same text can refute what was said of it."""
    near = compared(parse(given.quotation), text)
    verdict = verdict_on(near.likeness)
    if verdict == given.verdict:
        return Check("verdict", "confirmed", f"{name}: the quotation is {verdict}.")
    why = "; ".join(map(str, near.differences))
    said = f"{name}: the quotation is {verdict}, not {given.verdict}: {why or 'nothing like it'}."
    return Check("verdict", "refuted" if is_same else "unclear", said)


def _check_stitched(given: Certificate) -> Check:
    """Whether a quotation of several papers is called what it is, and all of it accounted for."""
    if given.verdict == "verbatim":
        return Check("verdict", "refuted", "A quotation of several papers is called verbatim.")
    exact = [FoldedText.of(target.exact) for target in given.targets]
    for sentence in sentences_of(parse(given.quotation)):
        if all(one.find(sentence) < 0 for one in exact):
            said = f"No target of the certificate has “{one_line(sentence)[:_SHOWN]}”."
            return Check("verdict", "refuted", said)
    return Check("verdict", "confirmed", "The quotation is stitched from several papers.")
