"""Match files from people to their papers, judge them like downloads, and file them.

What no program may fetch, a person often may: through a library, from an author. Such files are
dropped into ``inbox/`` on the shelf. Each is matched to a paper by the identifiers it names, by
its file name or by its title, passes the same judges as everything else, and is filed ``via
manual``. No file is ever deleted: one that was filed is moved to ``inbox/filed/``, every other
stays where it is, and the result says why.

``source`` has four words for a full text. One brought by hand counts as ``DOI``, the publisher's
side, or as ``arXiv`` for a paper that has no DOI but is on arXiv: it did not come from PMC.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from .. import readers as formats
from ..download.ladder import Ladder
from ..errors import BadContent, BadRequest, NotFound, PaperError
from ..harvest.jobs import Ledgers
from ..model.identifiers import Ids
from ..model.paper import Attempt, Document, Paper, StoredPaper
from ..model.versions import get_shelf_version
from ..shelf import Shelf
from ..shelf.pdf_files import UserPdf
from ..system.plain_text import one_line
from .file_matching import BY_NAME, FileMatch, FileMatcher
from .inbox_files import (
    VIA,
    InboxFile,
    SeenFiles,
    copy_with_unique_name,
    get_display_name,
    hash_file_states,
    list_complete_files,
    move_to_filed_folder,
    read_submitted_file,
    read_unjudged_document,
)

FOLDER = "inbox"
_AT_ONCE = 50  # files whose texts are in memory
Outcome = Literal["filed", "rejected", "unmatched", "ambiguous", "postponed"]


@dataclass(frozen=True, slots=True)
class InboxResult:
    """The outcome for one submitted file.

    Parameters
    ----------
    file : str
        Its name in the inbox; of a file in another folder, its path.
    outcome : str
        ``filed``; ``rejected`` (it is not the whole paper, or not this one); ``unmatched`` (no
        paper is known that it could be); ``ambiguous`` (it could be several); ``postponed``
        (no source could tell now: run it again).
    detail : str
        The same in a sentence.
    paper, title : str
        The paper it was matched to, if any.
    file_path : str
        The text on the shelf.
    jobs : tuple of str
        Harvests that lacked the text and have it now.
    """

    file: str
    outcome: Outcome
    detail: str
    paper: str = ""
    title: str = ""
    file_path: str = ""
    jobs: tuple[str, ...] = ()

    def row(self) -> dict[str, Any]:
        """Return the fields as a JSON-serialisable dict."""
        return {**asdict(self), "jobs": list(self.jobs)}


def file_inbox(
    ladder: Ladder, *, accept: str = "", looked_at: SeenFiles | None = None
) -> Iterator[InboxResult]:
    """Match, judge and file the files in ``inbox/``, once.

    *accept* is a reason for filing what the judges refuse, where it is clear which paper it is; it
    is recorded with the text. With *looked_at*, whoever looks again and again passes over what is
    known, and over files that are still being written.

    Killed at any instant, it loses nothing: a file leaves the inbox last, when all reports say
    that it arrived, and the next walk completes the work.

    Yields
    ------
    InboxResult
        One for each file; hidden files and downloads under way are passed over.

    Raises
    ------
    StoreFailed
        The disk refuses.
    """
    complete, growing = list_complete_files(ladder.shelf.folder / FOLDER)
    for path in growing if looked_at is None else ():
        detail = "The file is empty, or still being written. Run this again when it is complete."
        yield InboxResult(get_display_name(path), "postponed", detail)
    known = looked_at or SeenFiles()
    fresh = known.select_unseen(hash_file_states(complete))
    with closing(Inbox(ladder, accepting=one_line(accept))) as inbox:
        paths = iter(fresh)
        while some := list(islice(paths, _AT_ONCE)):
            yield from _iterate_batch_results(inbox, {path: fresh[path] for path in some}, known)


def _iterate_batch_results(
    inbox: Inbox, fresh: Mapping[Path, str], known: SeenFiles
) -> Iterator[InboxResult]:
    """File some files; their texts are held in memory meanwhile."""
    matches = []
    for path, mark in fresh.items():
        match_or_result = inbox.match_file(path)
        if isinstance(match_or_result, InboxResult):
            known.mark_seen(mark)
            yield match_or_result
        elif match_or_result:
            matches.append(match_or_result)
    inbox.matcher.load_match_records(matches)
    for match in matches:
        done = inbox.file_match(match)
        if done and known.mark_matched(fresh[match.path], again=done.outcome == "postponed"):
            yield done


@dataclass(slots=True)
class Inbox:
    """One pass through the inbox; filed files leave the inbox when the pass is closed."""

    ladder: Ladder
    matcher: FileMatcher = field(init=False)
    ledgers: Ledgers = field(init=False)
    accepting: str = ""
    filed: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.matcher = FileMatcher(self.ladder)
        self.ledgers = Ledgers(self.ladder)

    @property
    def shelf(self) -> Shelf:
        """The shelf on which texts are filed."""
        return self.ladder.shelf

    def close(self) -> None:
        """Update the reports, then move filed files away."""
        self.ledgers.close()
        for path in self.filed:
            move_to_filed_folder(path)

    # -- whose it is -------------------------------------------------------------------------

    def match_file(self, path: Path) -> FileMatch | InboxResult | None:
        """Identify the papers that a file may be; None if the file is gone."""
        try:
            match = self.matcher.read_file_match(path)
        except FileNotFoundError:
            return None
        except BadContent as bad:
            return InboxResult(get_display_name(path), "rejected", bad.text)
        return match or _build_unmatched_result(match)

    # -- whether it is that ------------------------------------------------------------------

    def file_match(self, match: FileMatch) -> InboxResult | None:
        """Judge a file against each paper that it may be, and file it; None if the file is gone."""
        try:
            found = read_submitted_file(match.path)
        except FileNotFoundError:  # another process was faster
            return None
        except BadContent as bad:
            return InboxResult(get_display_name(match.path), "rejected", bad.text)
        judged = self.matcher.judge_match(match, found)
        if len(judged.fitting) > 1:
            names = " or ".join(str(paper.ids) for paper, _ in judged.fitting)
            return InboxResult(
                get_display_name(match.path), "ambiguous", f"It may be {names}. {BY_NAME}"
            )
        if judged.fitting:
            path = self._copy_into_inbox(match.path) if match.foreign else match.path
            return self._save_accepted_text(path, found, *judged.fitting[0])
        if self.accepting and (
            done := self._file_despite_rejection(match.path, found, judged.refused)
        ):
            return done
        return self._build_not_filed_result(match, judged.refused)

    def _file_despite_rejection(
        self, path: Path, found: InboxFile, refused: Sequence[tuple[Paper, BadContent]]
    ) -> InboxResult | None:
        """File a text that the judges rejected, by hand; None if it may be several papers."""
        if len({paper.ids.key for paper, _ in refused}) != 1:
            return None
        paper, bad = refused[0]
        claims = read_unjudged_document(found)  # has a text: it was read before
        document = formats.add_provenance_fields(claims, found.fetched, paper)
        accepted = replace(document, verdict="by_hand", evidence=self.accepting)
        done = self._save_accepted_text(path, found, paper, accepted)
        if done.detail != self.accepting:  # the shelf has better
            return done
        return replace(done, detail=f"by hand: {done.detail} (the judges said {bad.outcome})")

    def _copy_into_inbox(self, path: Path) -> Path:
        """Copy a file of another folder into the inbox."""
        return copy_with_unique_name(path, self.shelf.folder / FOLDER / path.name)

    def _build_not_filed_result(
        self, match: FileMatch, refused: Sequence[tuple[Paper, BadContent]]
    ) -> InboxResult | None:
        name = get_display_name(match.path)
        outcomes = [outcome for ids in match.names for outcome in self.matcher.find_records(ids)]
        troubles = [outcome for outcome in outcomes if isinstance(outcome, PaperError)]
        for trouble in troubles:
            if not isinstance(trouble, NotFound | BadRequest):
                return InboxResult(name, "postponed", trouble.text, str(match.names[0]))
        if match.foreign and all(bad.outcome == "wrong_paper" for _, bad in refused):
            return None  # some other file of theirs
        if refused:
            paper, bad = min(refused, key=lambda pair: pair[1].outcome == "wrong_paper")
            return InboxResult(name, "rejected", str(bad), str(paper.ids), one_line(paper.title))
        reasons = " ".join(trouble.message for trouble in troubles)
        return InboxResult(name, "unmatched", f"{reasons} {BY_NAME}")

    # -- filing ------------------------------------------------------------------------------

    def _save_accepted_text(
        self, path: Path, found: InboxFile, paper: Paper, document: Document
    ) -> InboxResult:
        """Save a text that was accepted for a paper; a full text on the shelf is not replaced."""
        stored, detail = save_accepted_text(self.shelf, path, found, paper, document)
        jobs = self.ledgers.record_arrival(stored)
        self.filed.append(path)
        title, on_shelf = one_line(stored.paper.title), stored.path
        return InboxResult(
            get_display_name(path), "filed", detail, str(stored.paper.ids), title, on_shelf, jobs
        )


def save_accepted_text(
    shelf: Shelf,
    path: Path,
    found: InboxFile,
    paper: Paper,
    document: Document,
    own_file: UserPdf | None = None,
) -> tuple[StoredPaper, str]:
    """Save a text that was accepted for a paper; return what the shelf has now, and why.

    A full text is not replaced unasked, unless a person handed it in, too: a PDF is seldom better
    than what PMC sends. *own_file* is linked or used where it is, instead of copied.
    """
    present = find_same_version(shelf, paper, document)
    if present and present.verdict == "full_text" and present.via != VIA:
        return present, f"The shelf had its full text already, by {present.via}; it stays."
    before = shelf.find_text(paper.ids, document.version or "published")
    attempts = [a for a in before.attempts if a.source != VIA] if before else []
    detail = document.evidence
    stored = shelf.save_full_text(
        paper,
        document,
        replace(found.fetched, ids=paper.ids),
        source="arXiv" if paper.ids.arxiv and not paper.ids.doi else "DOI",
        attempts=[*attempts, Attempt(VIA, "saved", f"{get_display_name(path)}: {detail}")],
        own_file=own_file,
    )
    return stored, detail


def find_same_version(shelf: Shelf, paper: Paper, document: Document) -> StoredPaper | None:
    """Return the full text that the shelf has of the same version of a paper."""
    version = document.version or "published"
    present = shelf.find_text(paper.ids, version)
    if present and present.kind == "full_text" and get_shelf_version(present) == version:
        return present
    return None


def _build_unmatched_result(match: FileMatch) -> InboxResult:
    """Return the result of a file that matches no paper."""
    from ..judges.check import judge_completeness
    from ..model.verdicts import MEANINGS

    path, document = match.path, match.document
    assert document
    judged = judge_completeness(document, Paper(Ids()))
    if judged.verdict in ("scanned", "empty"):
        meaning = MEANINGS[judged.verdict]
        return InboxResult(get_display_name(path), "rejected", f"{meaning.said}. {meaning.hint}")
    detail = f"It names no paper, and no paper on the shelf has its title. {BY_NAME}"
    return InboxResult(get_display_name(path), "unmatched", detail)
