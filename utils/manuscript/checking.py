"""Check a manuscript: its references first, then what its sentences say of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ..corpus.texts import key_of, text_named, title_and_abstract
from ..errors import NotFound, PaperError
from .claims import Claim, check_sentence
from .parts import Manuscript, Place, Reference
from .passages import CitedText
from .reference_files import by_key
from .references import CheckedReference, check_references
from .sentences import Sentence, sentences

if TYPE_CHECKING:
    from ..corpus import Corpus
    from ..model.identifiers import Ids
    from ..sources import Source

FINDINGS, UNCLEAR = 1, 3
_FINDINGS = {
    *("differs", "wrong_paper", "not_found", "altered", "absent", "elsewhere", "unlisted"),
    *("retracted", "expression_of_concern", "preprint"),
}
_UNCLEAR = {"unsure", "could_not_tell", "no_full_text"}


@dataclass(frozen=True, slots=True)
class Unlisted:
    """A citation of a key that no list has."""

    key: str
    place: Place


@dataclass(frozen=True, slots=True)
class Check:
    """What was found in a manuscript.

    ``texts`` says of each reference's key what of the paper was read: ``full_text``, ``abstract``
    or nothing.
    """

    manuscript: Manuscript
    references: tuple[CheckedReference, ...]
    claims: tuple[Claim, ...] = ()
    unlisted: tuple[Unlisted, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)

    @property
    def outcomes(self) -> Counter[str]:
        """How often each result came, those of references, their warnings and claims together."""
        found = Counter[str](one.status for one in self.references)
        found += Counter(kind for one in self.references for kind, _ in one.warnings)
        found += Counter(one.outcome for one in self.claims)
        found["unlisted"] += len(self.unlisted)
        return +found

    @property
    def status(self) -> int:
        """The exit status: 0 all fine, 1 something was found, 3 something could not be told."""
        if _FINDINGS & set(self.outcomes):
            return FINDINGS
        return UNCLEAR if _UNCLEAR & set(self.outcomes) else 0

    @property
    def missing(self) -> list[str]:
        """The papers whose full text is not here, as they are downloaded."""
        return [
            one.ids.key
            for one in self.references
            if one.ids and self.texts.get(one.reference.key) != "full_text"
        ]

    def row(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "manuscript": self.manuscript.name,
            "form": self.manuscript.form,
            "status": self.status,
            "counts": dict(self.outcomes),
            "references": [_reference_row(one, self.texts) for one in self.references],
            "claims": [{**asdict(one), "place": _place_row(one.place)} for one in self.claims],
            "unlisted": [{"key": one.key, "place": _place_row(one.place)} for one in self.unlisted],
            "missing": self.missing,
            "warnings": list(self.manuscript.warnings),
        }


def _place_row(place: Place) -> dict[str, Any]:
    return {**{name: value for name, value in asdict(place).items() if value}, "said": str(place)}


def _reference_row(one: CheckedReference, texts: dict[str, str]) -> dict[str, Any]:
    return {
        "key": one.reference.key,
        "status": one.status,
        "place": _place_row(one.reference.place),
        "words": one.reference.words,
        "title": one.reference.paper.title,
        "paper": one.paper.short_row() if one.paper else None,
        "differences": list(one.differences),
        "said": one.said,
        "meant": one.meant,
        "warnings": [{"kind": kind, "said": said} for kind, said in one.warnings],
        "text": texts.get(one.reference.key, ""),
    }


def check(manuscript: Manuscript, corpus: Corpus, sources: Sequence[Source]) -> Check:
    """Check a manuscript on what the services say and the shelf has."""
    references = check_references(_listed(manuscript), corpus.web, corpus.shelf, sources)
    texts = {one.reference.key: text for one in references if (text := cited_text(one, corpus))}
    known = by_key(manuscript.references)
    return Check(
        manuscript,
        tuple(references),
        tuple(_claims(manuscript, texts)),
        tuple(_unlisted(manuscript, set(known))),
        {key: "full_text" if one.is_full else "abstract" for key, one in texts.items()},
    )


def _listed(manuscript: Manuscript) -> list[Reference]:
    """The references to check: of a file, which may be a whole library, those that are cited."""
    cited = {key for one in manuscript.blocks for mark in one.marks for key in mark.keys}
    return [one for one in manuscript.references if one.words or one.key in cited or not cited]


def cited_text(checked: CheckedReference, corpus: Corpus) -> CitedText | None:
    """The text of a cited paper: the shelf's, else the abstract of its record."""
    if checked.status not in ("verified", "differs") or not checked.paper:
        return None
    for name in checked.ids.names():
        try:
            text = text_named(name, corpus)
            words = text.read(corpus.shelf)
        except NotFound:
            continue
        except PaperError:
            break
        return CitedText(text.key, words, text.kind == "full_text", text.file)
    words = title_and_abstract(checked.paper)
    return CitedText(key_of(checked.ids), words, is_full=False) if words else None


def _claims(manuscript: Manuscript, texts: dict[str, CitedText]) -> Iterator[Claim]:
    for sentence in _cited_sentences(manuscript):
        about = [texts[key] for key in sentence.keys if key in texts]
        if about:
            yield from check_sentence(sentence, about)


def _cited_sentences(manuscript: Manuscript) -> Iterator[Sentence]:
    for block in manuscript.blocks:
        if block.kind not in ("heading", "entry"):
            yield from (one for one in sentences(block) if one.keys)


def _unlisted(manuscript: Manuscript, known: set[str]) -> Iterator[Unlisted]:
    seen: set[str] = set()
    for block in manuscript.blocks:
        for mark in block.marks:
            for key in mark.keys:
                if key not in known and key not in seen and key[:1] != "#":
                    seen.add(key)
                    yield Unlisted(key, block.place(mark.start, mark.end))


def cited_papers(manuscript: Manuscript, corpus: Corpus, sources: Sequence[Source]) -> list[Ids]:
    """The papers that a manuscript cites, as far as they are the ones it says they are."""
    checked = check_references(_listed(manuscript), corpus.web, corpus.shelf, sources)
    return [one.ids for one in checked if one.status in ("verified", "differs") and one.ids]
