"""Check a manuscript: its references first, then what its sentences say of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ..corpus.texts import key_of, text_named, title_and_abstract
from ..errors import NotFound, PaperError
from ..model.sites import SITES
from .claims import Claim, check_beside, check_sentence
from .parts import Manuscript, Place, Reference, Sentence, sentences
from .passages import CitedText
from .reading import SUFFIX, fingerprint
from .reference_files import by_key
from .references import CheckedReference, check_references

if TYPE_CHECKING:
    from ..corpus import Corpus
    from ..model.identifiers import Ids
    from ..sources import Source

FINDINGS, UNCLEAR = 1, 3
_FINDINGS = {
    *("differs", "wrong_paper", "not_found", "altered", "absent", "elsewhere", "unlisted"),
    *("retracted", "retraction_notice", "expression_of_concern", "preprint"),
}
_UNCLEAR = {"unsure", "could_not_tell", "no_full_text"}


@dataclass(frozen=True, slots=True)
class Unlisted:
    """A citation of a key that no list has."""

    key: str
    place: Place

    @property
    def fingerprint(self) -> str:
        """Its name for `.reading`."""
        return fingerprint("unlisted", self.key)


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
        """How often each result came, those of references, their warnings and claims together.

        What would change the exit status and somebody accepts is ``accepted``.
        """
        return Counter(
            "accepted" if self.accepts(mark) and outcome in _FINDINGS | _UNCLEAR else outcome
            for mark, outcome in self._results()
        )

    def accepts(self, mark: str) -> str:
        """Why somebody accepts the finding of a fingerprint; empty where nobody does."""
        return self.manuscript.accepted.get(mark, "")

    def _results(self) -> Iterator[tuple[str, str]]:
        """Every result with its fingerprint."""
        for one in self.references:
            yield one.fingerprint, one.status
            yield from ((one.fingerprint_of(kind), kind) for kind, _ in one.warnings)
        yield from ((claim.fingerprint, claim.outcome) for claim in self.claims)
        yield from ((missing.fingerprint, "unlisted") for missing in self.unlisted)

    @property
    def status(self) -> int:
        """The exit status: 0 all fine, 1 something was found, 3 something could not be told."""
        if _FINDINGS & set(self.outcomes):
            return FINDINGS
        return UNCLEAR if _UNCLEAR & set(self.outcomes) else 0

    @property
    def warnings(self) -> list[str]:
        """What could not be read, whose records stand in for others', what is accepted in vain."""
        told = list(self.manuscript.warnings)
        asked = {mark for mark, outcome in self._results() if outcome in _FINDINGS | _UNCLEAR}
        if stale := [mark for mark in self.manuscript.accepted if mark not in asked]:
            file = f"{self.manuscript.name}{SUFFIX}"
            told.append(f"{file} accepts what was not found this time: {', '.join(stale)}.")
        stood_in = [one for one in self.references if one.silent]
        if not stood_in:
            return told
        named = {site.name: site.addresses[0].about for site in SITES}
        by = {named.get(one.paper.recorded_by, "others") for one in stood_in if one.paper}
        said = (
            f"{len(stood_in)} of {len(self.references)} references were held against the records"
            f" of {' and '.join(sorted(by))}, because who is asked first did not answer and may"
            f" know of more retractions ({stood_in[0].silent}). Check again later."
        )
        return [*told, said]

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
            "claims": [
                {**asdict(one), "place": _place_row(one.place), "fingerprint": one.fingerprint}
                for one in self.claims
            ],
            "unlisted": [
                {"key": one.key, "place": _place_row(one.place), "fingerprint": one.fingerprint}
                for one in self.unlisted
            ],
            "accepted": dict(self.manuscript.accepted),
            "missing": self.missing,
            "warnings": self.warnings,
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
        "fingerprint": one.fingerprint,
        "warnings": [
            {"kind": kind, "said": said, "fingerprint": one.fingerprint_of(kind)}
            for kind, said in one.warnings
        ],
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
    for block in manuscript.blocks:
        if block.kind in ("heading", "entry") or not block.marks:
            continue
        found = list(sentences(block))
        for at, sentence in enumerate(found):
            keys = sentence.keys or _keys_beside(found, at)
            about = [texts[key] for key in keys if key in texts]
            if about and sentence.keys:
                yield from check_sentence(sentence, about)
            elif about:
                yield from check_beside(sentence, keys, about)


def _keys_beside(found: Sequence[Sentence], at: int) -> tuple[str, ...]:
    """What the nearest sentences of the paragraph cite, before and behind one that cites nothing.

    A citation covers what leads up to it as often as what is told after it.
    """
    before = next((one.keys for one in reversed(found[:at]) if one.keys), ())
    behind = next((one.keys for one in found[at + 1 :] if one.keys), ())
    return tuple(dict.fromkeys((*before, *behind)))


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
