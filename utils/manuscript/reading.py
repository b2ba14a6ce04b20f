"""Read a manuscript of any format, with its reference lists and accepted findings.

Accepted findings are listed next to the manuscript in ``paper.md.accepted``, one per line: the
fingerprint that the check shows for a finding, and the reason for accepting it. A fingerprint is a
hash of the finding's content (the sentence and the number, the entry and its differences). It does
not depend on line numbers or on the wording of messages, and changes when that content changes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from shlex import quote

from ..errors import BadRequest, PaperError
from ..lists.pasted import ListEntry, open_decoded_lines
from ..model.identifiers import Ids
from ..model.paper import Fetched, Paper
from ..model.passage import SourcePlace
from ..system.named_files import build_unreadable_error, require_existing_file
from . import latex, markdown
from .parts import (
    BlockBuilder,
    Form,
    ListedReference,
    Manuscript,
    ManuscriptBlock,
    ManuscriptPlace,
    iterate_sentences,
)
from .printed import parse_printed_reference, split_off_printed_list
from .reference_files import index_references_by_key, parse_csl_reference, read_references

ACCEPTED_SUFFIX = ".accepted"
_FINGERPRINT_LENGTH = 10
_MAX_ACCEPTED_BYTES = 1_000_000
MAX_MANUSCRIPT_BYTES = 100_000_000
_MARKDOWN = {".md", ".markdown", ".qmd", ".rmd", ".mkd"}
_LATEX = {".tex", ".ltx", ".latex"}
_SUFFIXES = {*_MARKDOWN, *_LATEX, ".docx", ".pdf", ".txt"}
_FORMS_HINT = "Give DOCX, Markdown, LaTeX, PDF or plain text."


def read_manuscript(
    path: Path, lists: Sequence[Path] = (), entries: Iterable[ListEntry] = ()
) -> Manuscript:
    """Read a manuscript with its references.

    Parameters
    ----------
    path : Path
    lists : sequence of Path, optional
        Files of references in addition to those that the manuscript names.

    Raises
    ------
    BadRequest
        The file is missing, has another format, or is damaged.
    """
    data = _read_manuscript_bytes(path)
    form = _detect_manuscript_format(data, path)
    blocks, references, warnings = _READERS[form](data, path)
    for extra in lists:
        references += read_references(_read_manuscript_bytes(extra), extra.name)
    for entry in entries:
        record = entry.record or entry.paper or Paper(entry.ids)
        references.append(ListedReference(entry.key, entry.ids, record))
    made = _build_manuscript(path.name, form, blocks, references, warnings)
    return replace(made, accepted=read_accepted_findings(path))


def read_manuscript_text(text: str, references: str = "") -> Manuscript:
    """Read Markdown or LaTeX given as text, with its list; files that the text names are not read.

    Raises
    ------
    BadRequest
        The text is empty, or the list cannot be read.
    """
    if not text.strip():
        raise BadRequest("The manuscript is empty.", "Give its text, Markdown or LaTeX.")
    if len(text.split()) == 1 and Path(text.strip()).suffix.lower() in _SUFFIXES:
        msg = f"{text.strip()} is the name of a file and not the text of a manuscript."
        raise BadRequest(msg, "Give the text itself, as Markdown or LaTeX.")
    listed = read_references(references.encode(), "references") if references.strip() else []
    if re.search(r"\\(?:documentclass|begin\{|[a-zA-Z]*cite[a-zA-Z]*\*?[\[{])", text):
        blocks = latex.parse_latex_blocks(text)
        listed += [
            parse_printed_reference(key, latex.latex_to_displayed_text(one))
            for key, one, _ in latex.iterate_bib_items(text)
        ]
        return _build_manuscript("manuscript", "latex", blocks, listed, [])
    items = markdown.parse_yaml_metadata(text).get("references")
    if isinstance(items, list):
        listed += [parse_csl_reference(item) for item in items if isinstance(item, dict)]
    return _build_manuscript(
        "manuscript", "markdown", markdown.parse_markdown_blocks(text), listed, []
    )


def _build_manuscript(
    name: str,
    form: Form,
    blocks: list[ManuscriptBlock],
    references: list[ListedReference],
    warnings: list[str],
) -> Manuscript:
    """Return a manuscript; without a list of its own, the printed list and identifier keys count.

    Raises
    ------
    BadRequest
        It has no text.
    """
    if not blocks:
        raise BadRequest(f"{name} has no text.", _FORMS_HINT)
    if not references and form != "latex" and not _has_key_citations(blocks):
        blocks, references = split_off_printed_list(blocks)
    known = index_references_by_key(references)
    cited = dict.fromkeys(key for block in blocks for mark in block.marks for key in mark.keys)
    references += [
        ListedReference(key, ids, Paper(Ids()))
        for key, ids in _iterate_identifier_keys(cited, known)
    ]
    if not references:
        warnings.append("It has no list of references that could be read.")
    return Manuscript(name, form, tuple(blocks), tuple(references), tuple(warnings))


def _has_key_citations(blocks: Iterable[ManuscriptBlock]) -> bool:
    """Return whether a citation names a key instead of the number of a printed entry."""
    return any(key[0] != "#" for block in blocks for mark in block.marks for key in mark.keys)


def _iterate_identifier_keys(
    keys: Iterable[str], known: Container[str]
) -> Iterator[tuple[str, Ids]]:
    """Yield the citation keys that are identifiers and are in no list."""
    for key in keys:
        if key not in known and (":" in key or "/" in key) and (ids := Ids.maybe(key)):
            yield key, ids


def _read_manuscript_bytes(path: Path) -> bytes:
    """Return a file's bytes; raise `BadRequest` for a missing, too large or unreadable file."""
    try:
        require_existing_file(path)  # refuses a pipe too, which may never end
        if path.stat().st_size > MAX_MANUSCRIPT_BYTES:
            msg = f"{path.name} has more than {MAX_MANUSCRIPT_BYTES:,} bytes."
            raise BadRequest(msg, "Remove the pictures and check it again.")
        return path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        raise build_unreadable_error(path, error) from None


def _detect_manuscript_format(data: bytes, path: Path) -> Form:
    """Return the format of a file by its content and name."""
    suffix = path.suffix.lower()
    if b"%PDF-" in data[:1024]:
        return "pdf"
    if data[:4] == b"PK\x03\x04":
        return "docx"
    if b"\0" in data[:1000] and data[:2] not in {b"\xff\xfe", b"\xfe\xff"}:
        raise BadRequest(f"{path.name} is not in a readable format.", _FORMS_HINT)
    if suffix in _LATEX or b"\\documentclass" in data[:20_000]:
        return "latex"
    return "markdown" if suffix in _MARKDOWN else "text"


_Read = tuple[list[ManuscriptBlock], list[ListedReference], list[str]]


def _read_markdown_file(data: bytes, path: Path) -> _Read:
    text = open_decoded_lines(data).read()
    told = markdown.parse_yaml_metadata(text)
    named = told.get("bibliography") or []
    references, warnings = _read_reference_files(path, [named] if isinstance(named, str) else named)
    items = told.get("references")
    if isinstance(items, list):
        references += [parse_csl_reference(item) for item in items if isinstance(item, dict)]
    return markdown.parse_markdown_blocks(text, path.name), references, warnings


def _read_latex_file(data: bytes, path: Path) -> _Read:
    text = open_decoded_lines(data).read()
    files, home = {}, _find_allowed_folder(path)
    for other in sorted(path.parent.rglob("*.tex"))[:500]:
        if other != path and _is_inside_folder(other, home):
            with suppress(BadRequest):
                name = other.relative_to(path.parent).as_posix()
                files[name] = open_decoded_lines(_read_manuscript_bytes(other)).read()
    whole = [text, *(one for name, one in files.items() if name.rpartition("/")[2] in text)]
    names = [name for one in [text, *files.values()] for name in latex.find_bibliography_names(one)]
    references, warnings = _read_reference_files(path, dict.fromkeys(names))
    printed = path.with_suffix(".bbl")
    if not references and printed.is_file() and _is_inside_folder(printed, home):
        whole.append(open_decoded_lines(_read_manuscript_bytes(printed)).read())
    for one in whole:
        for key, source, at in latex.iterate_bib_items(one):
            line = one.count("\n", 0, at) + 1
            place = ManuscriptPlace(path.name if one is text else printed.name, line, line)
            references.append(
                parse_printed_reference(key, latex.latex_to_displayed_text(source), place=place)
            )
    return latex.parse_latex_blocks(text, path.name, files), references, warnings


def _read_plain_text(data: bytes, path: Path) -> _Read:
    text = open_decoded_lines(data).read()
    builder = BlockBuilder(text, path.name)
    at = 0
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if not bare or _is_reference_line(bare):
            builder.finish_block()
        if bare:
            builder.append_text(f"{line.rstrip()} ", at, 0)
        at += len(line)
    builder.finish_block()
    return builder.blocks, [], []


def _is_reference_line(line: str) -> bool:
    return bool(re.match(r"\[\d{1,3}\]|\d{1,3}\.\s+\S|references?$|bibliography$", line, re.I))


def _read_docx_file(data: bytes, path: Path) -> _Read:
    from . import docx

    blocks, references = docx.read_docx(data)
    return blocks, references, []


def _read_pdf_file(data: bytes, path: Path) -> _Read:
    from ..readers.pdf import reader
    from ..readers.source_words import SourcePassageFinder, extract_source_words

    fetched = Fetched(data, "pdf", "", path.name, "file")
    blocks = markdown.parse_markdown_blocks(reader.read_document(fetched).markdown)
    source = extract_source_words(fetched)
    find = SourcePassageFinder(source).find_places if source else lambda _: ()
    made = [
        replace(block, at=(), lines=(), pages=_find_block_pages(block, find)) for block in blocks
    ]
    lost = sum(not one.pages and one.kind == "prose" and " " in one.text[80:] for one in made)
    told = f"On which pages {lost} of {len(made)} paragraphs stand could not be told."
    return made, [], [told] if lost else []


def _find_block_pages(
    block: ManuscriptBlock, find: Callable[[str], tuple[SourcePlace, ...]]
) -> list[tuple[int, int]]:
    """Return the pages of a block, each with the offset of its first sentence there."""
    pages = [place.page for place in find(block.text)]
    found = [(0, page) for page in pages[:1]]
    for one in iterate_sentences(block) if len(pages) > 1 else ():
        there = find(one.text)
        if there and found[-1][1] < there[0].page <= pages[-1]:
            found.append((one.start, there[0].page))
    return found


_READERS = {
    "markdown": _read_markdown_file,
    "latex": _read_latex_file,
    "text": _read_plain_text,
    "docx": _read_docx_file,
    "pdf": _read_pdf_file,
}


def _read_reference_files(
    path: Path, names: Iterable[object]
) -> tuple[list[ListedReference], list[str]]:
    """Return the references of the files that a manuscript names, and a warning per unread file.

    The manuscript may come from an untrusted author. Only files of its own folder or repository
    are read; other files must be named on the command line (``--references``).
    """
    references: list[ListedReference] = []
    warnings: list[str] = []
    home = _find_allowed_folder(path)
    for name in names:
        file = path.parent / str(name)
        if not _is_inside_folder(file, home):
            unread = f"The reference list {name} is outside {home.name or home} and was not read."
            warnings.append(f"{unread} To use it, add: --references {quote(str(file))}")
            continue
        try:
            references += read_references(_read_manuscript_bytes(file), str(name))
        except PaperError as error:
            warnings.append(f"The reference list {name} was not read. {error.message}")
    return references, warnings


def _find_allowed_folder(path: Path) -> Path:
    """Return the folder whose files a manuscript may name: its repository, else its own folder."""
    folder = path.resolve().parent
    return next((one for one in (folder, *folder.parents) if (one / ".git").exists()), folder)


def _is_inside_folder(file: Path, home: Path) -> bool:
    """Return whether a file, with links resolved, is in a folder."""
    try:
        return file.resolve().is_relative_to(home)
    except (OSError, RuntimeError, ValueError):  # links in circles, a zero byte
        return False


def compute_finding_fingerprint(*words: str) -> str:
    """Return a short hash that identifies a finding regardless of its position."""
    plain = "\n".join(" ".join(word.split()) for word in words)
    return hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()[:_FINGERPRINT_LENGTH]


def read_accepted_findings(manuscript: Path) -> dict[str, str]:
    """Return the accepted findings of a manuscript with their reasons; empty without the file.

    Raises
    ------
    BadRequest
        A line has no reason, or the file cannot be read.
    """
    file = manuscript.with_name(manuscript.name + ACCEPTED_SUFFIX)
    if not file.is_file():
        return {}
    try:
        if file.stat().st_size > _MAX_ACCEPTED_BYTES:
            raise BadRequest(
                f"{file.name} is too long.", "Write one line for each accepted finding."
            )
        return dict(_parse_accepted_findings(open_decoded_lines(file.read_bytes()), file.name))
    except OSError as error:
        raise build_unreadable_error(file, error) from None


def _parse_accepted_findings(lines: Iterable[str], name: str) -> Iterable[tuple[str, str]]:
    """Yield fingerprint and reason of each accepted finding."""
    for at, line in enumerate(lines, 1):
        found, _, reason = line.strip().partition(" ")
        if found and found[0] != "#":
            if not reason.strip():
                msg = f"{name}, line {at}: {found[:_FINGERPRINT_LENGTH]} has no reason."
                raise BadRequest(msg, "Write the reason for accepting it after the fingerprint.")
            yield found.lower(), reason.strip()
