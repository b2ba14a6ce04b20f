"""Check a manuscript: first its references, then the claims in its sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ..corpus.stored_records import join_title_and_abstract
from ..corpus.texts import find_paper_text, get_paper_key
from ..errors import NotFound, PaperError
from ..model.sites import SITES
from .claims import check_sentence, check_uncited_sentence
from .parts import ListedReference, Manuscript, ManuscriptPlace, Sentence, iterate_sentences
from .passages import CitedText
from .reading import ACCEPTED_SUFFIX, compute_finding_fingerprint
from .reference_files import index_references_by_key
from .references import CheckedReference, check_references
from .statements import DIFFERING, LEGEND, CheckedClaim, Statement

if TYPE_CHECKING:
    from ..corpus import Corpus
    from ..model.identifiers import Ids
    from ..sources import Source

EXIT_FINDINGS, EXIT_UNCLEAR = 1, 3
_FINDINGS = {
    *("differs", "wrong_paper", "not_found", "unlisted", *DIFFERING),
    *("retracted", "retraction_notice", "expression_of_concern", "preprint"),
}
_UNCLEAR = {"unsure", "could_not_tell", "no_full_text"}


@dataclass(frozen=True, slots=True)
class UnlistedCitation:
    """A citation whose key is in no reference list."""

    key: str
    place: ManuscriptPlace

    @property
    def fingerprint(self) -> str:
        """The fingerprint with which the user can accept the finding."""
        return compute_finding_fingerprint("unlisted", self.key)


@dataclass(frozen=True, slots=True)
class ManuscriptCheck:
    """The results of checking a manuscript.

    ``texts`` maps a reference's key to the text that was read: ``full_text`` or ``abstract``.
    A reference without any text is not in it.
    """

    manuscript: Manuscript
    references: tuple[CheckedReference, ...]
    statements: tuple[Statement, ...] = ()
    unlisted: tuple[UnlistedCitation, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)

    @property
    def claims(self) -> list[CheckedClaim]:
        """The checked elements of all statements."""
        return [element for statement in self.statements for element in statement.elements]

    @property
    def results(self) -> Counter[str]:
        """The number of statements for each result: ``agrees``, ``differs``, ``not_judged``."""
        return Counter(statement.result for statement in self.statements)

    @property
    def legend(self) -> str:
        """The meaning of the signs, in one sentence."""
        return LEGEND

    @property
    def outcomes(self) -> Counter[str]:
        """The numbers of references, warnings and elements by result.

        An accepted finding counts as ``accepted`` if it would change the exit status.
        """
        return Counter(
            "accepted"
            if self.find_acceptance_reason(mark) and outcome in _FINDINGS | _UNCLEAR
            else outcome
            for mark, outcome in self._iterate_results()
        )

    def find_acceptance_reason(self, mark: str) -> str:
        """Return the reason why the user accepted a finding; empty if it is not accepted."""
        return self.manuscript.accepted.get(mark, "")

    def _iterate_results(self) -> Iterator[tuple[str, str]]:
        """Yield every result with its fingerprint."""
        for reference in self.references:
            yield reference.fingerprint, reference.status
            yield from (
                (reference.build_warning_fingerprint(kind), kind) for kind, _ in reference.warnings
            )
        yield from ((claim.fingerprint, claim.outcome) for claim in self.claims)
        yield from ((missing.fingerprint, "unlisted") for missing in self.unlisted)

    @property
    def status(self) -> int:
        """The exit status: 0 without findings, 1 with findings, 3 if a check could not be made."""
        if _FINDINGS & set(self.outcomes):
            return EXIT_FINDINGS
        return EXIT_UNCLEAR if _UNCLEAR & set(self.outcomes) else 0

    @property
    def warnings(self) -> list[str]:
        """Warnings about unreadable parts, fallback records and outdated accepted findings."""
        told = list(self.manuscript.warnings)
        asked = {
            mark for mark, outcome in self._iterate_results() if outcome in _FINDINGS | _UNCLEAR
        }
        if stale := [mark for mark in self.manuscript.accepted if mark not in asked]:
            file = f"{self.manuscript.name}{ACCEPTED_SUFFIX}"
            told.append(
                f"{file} accepts findings that this check did not report: {', '.join(stale)}."
            )
        stood_in = [reference for reference in self.references if reference.silent]
        if not stood_in:
            return told
        named = {site.name: site.addresses[0].about for site in SITES}
        by = {named.get(one.paper.recorded_by, "others") for one in stood_in if one.paper}
        said = (
            f"{len(stood_in)} of {len(self.references)} references were compared with the records"
            f" of {' and '.join(sorted(by))}, because the preferred source did not respond and may"
            f" list more retractions ({stood_in[0].silent}). Check again later."
        )
        return [*told, said]

    @property
    def missing(self) -> list[str]:
        """The identifiers of cited papers without a full text on the shelf, for downloading."""
        return [
            reference.ids.key
            for reference in self.references
            if reference.ids and self.texts.get(reference.reference.key) != "full_text"
        ]

    def row(self) -> dict[str, Any]:
        """Return the check as a JSON-serialisable dict."""
        return {
            "manuscript": self.manuscript.name,
            "form": self.manuscript.form,
            "status": self.status,
            "counts": dict(self.outcomes),
            "references": [
                _reference_to_row(reference, self.texts) for reference in self.references
            ],
            "results": dict(self.results),
            "legend": self.legend,
            "statements": [_statement_to_row(statement) for statement in self.statements],
            "unlisted": [
                {"key": one.key, "place": _place_to_row(one.place), "fingerprint": one.fingerprint}
                for one in self.unlisted
            ],
            "accepted": dict(self.manuscript.accepted),
            "missing": self.missing,
            "warnings": self.warnings,
        }


def _statement_to_row(one: Statement) -> dict[str, Any]:
    """Return a statement as a JSON-serialisable dict."""
    row = one.to_row()
    for element, claim in zip(row["elements"], one.elements, strict=True):
        element["place"] = _place_to_row(claim.place)
    return {"place": _place_to_row(one.place), **row}


def _place_to_row(place: ManuscriptPlace) -> dict[str, Any]:
    return {**{name: value for name, value in asdict(place).items() if value}, "said": str(place)}


def _reference_to_row(one: CheckedReference, texts: dict[str, str]) -> dict[str, Any]:
    """Return a checked reference as a JSON-serialisable dict."""
    return {
        "key": one.reference.key,
        "status": one.status,
        "place": _place_to_row(one.reference.place),
        "words": one.reference.words,
        "title": one.reference.paper.title,
        "paper": one.paper.short_row() if one.paper else None,
        "differences": list(one.differences),
        "said": one.said,
        "meant": one.meant,
        "fingerprint": one.fingerprint,
        "warnings": [
            {"kind": kind, "said": said, "fingerprint": one.build_warning_fingerprint(kind)}
            for kind, said in one.warnings
        ],
        "text": texts.get(one.reference.key, ""),
    }


def check_manuscript(
    manuscript: Manuscript, corpus: Corpus, sources: Sequence[Source]
) -> ManuscriptCheck:
    """Check a manuscript against the services' records and the texts on the shelf."""
    references = check_references(
        _select_references_to_check(manuscript), corpus.web, corpus.shelf, sources
    )
    texts = {
        reference.reference.key: text
        for reference in references
        if (text := load_cited_text(reference, corpus))
    }
    known = index_references_by_key(manuscript.references)
    return ManuscriptCheck(
        manuscript,
        tuple(references),
        tuple(_iterate_statements(manuscript, texts)),
        tuple(_iterate_unlisted_citations(manuscript, set(known))),
        {key: "full_text" if one.is_full else "abstract" for key, one in texts.items()},
    )


def _select_references_to_check(manuscript: Manuscript) -> list[ListedReference]:
    """Return the references to check: printed entries, and list entries that are cited."""
    cited = {key for block in manuscript.blocks for mark in block.marks for key in mark.keys}
    return [
        reference
        for reference in manuscript.references
        if reference.words or reference.key in cited or not cited
    ]


def load_cited_text(checked: CheckedReference, corpus: Corpus) -> CitedText | None:
    """Return the text of a cited paper: from the shelf, or else the abstract of its record."""
    if checked.status not in ("verified", "differs") or not checked.paper:
        return None
    for name in checked.ids.names():
        try:
            text = find_paper_text(name, corpus)
            words = text.read(corpus.shelf)
        except NotFound:
            continue
        except PaperError:
            break
        return CitedText(text.key, words, text.kind == "full_text", text.file)
    words = join_title_and_abstract(checked.paper.title, checked.paper.abstract)
    return CitedText(get_paper_key(checked.ids), words, is_full=False) if words else None


def _iterate_statements(manuscript: Manuscript, texts: dict[str, CitedText]) -> Iterator[Statement]:
    """Yield the statements of every paragraph that has a citation."""
    for block in manuscript.blocks:
        if block.kind in ("heading", "entry") or not block.marks:
            continue
        found = list(iterate_sentences(block))
        for at, sentence in enumerate(found):
            keys = sentence.keys or _find_adjacent_keys(found, at)
            about = [texts[key] for key in keys if key in texts]
            if not about:
                continue
            unread = tuple(key for key in keys if key not in texts)
            made = (
                check_sentence(sentence, about, unread)
                if sentence.keys
                else check_uncited_sentence(sentence, keys, about)
            )
            if made:
                yield made


def _find_adjacent_keys(found: Sequence[Sentence], at: int) -> tuple[str, ...]:
    """Return the keys cited by the nearest citing sentences before and after a sentence.

    A citation covers the sentences before it as often as the sentences after it.
    """
    before = next((one.keys for one in reversed(found[:at]) if one.keys), ())
    behind = next((one.keys for one in found[at + 1 :] if one.keys), ())
    return tuple(dict.fromkeys((*before, *behind)))


def _iterate_unlisted_citations(
    manuscript: Manuscript, known: set[str]
) -> Iterator[UnlistedCitation]:
    """Yield each cited key that is in no reference list, once."""
    seen: set[str] = set()
    for block in manuscript.blocks:
        for mark in block.marks:
            for key in mark.keys:
                if key not in known and key not in seen and key[:1] != "#":
                    seen.add(key)
                    yield UnlistedCitation(key, block.get_place(mark.start, mark.end))


def find_cited_papers(
    manuscript: Manuscript, corpus: Corpus, sources: Sequence[Source]
) -> list[Ids]:
    """Return the identifiers of the cited papers whose reference matches its record."""
    checked = check_references(
        _select_references_to_check(manuscript), corpus.web, corpus.shelf, sources
    )
    return [one.ids for one in checked if one.status in ("verified", "differs") and one.ids]
