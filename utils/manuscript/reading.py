"""Which reader a manuscript needs, and what lies beside it: lists of references, accepted findings.

Findings that somebody looked at and accepts stand beside the manuscript in ``paper.md.accepted``,
one a line: the fingerprint that the check shows behind a finding, and why it is accepted. A
fingerprint is made of what is found where (the sentence and the number, the entry and its
differences), not of lines or the program's words: it lasts while those stay, and no longer.
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
from ..lists.pasted import decode_lines
from ..model.identifiers import Ids
from ..model.paper import Fetched, Paper
from ..model.passage import SourcePlace
from . import latex, markdown
from .parts import Block, BlockBuilder, Form, Manuscript, Place, Reference, sentences
from .printed import reference_of, with_printed_list
from .reference_files import by_key, csl_reference, references_in

SUFFIX = ".accepted"
_LENGTH = 10
_MOST_BYTES = 1_000_000
MOST_BYTES = 100_000_000
_MARKDOWN = {".md", ".markdown", ".qmd", ".rmd", ".mkd"}
_LATEX = {".tex", ".ltx", ".latex"}
_FORMS = "Give DOCX, Markdown, LaTeX, PDF or plain text."


def read_manuscript(path: Path, lists: Sequence[Path] = ()) -> Manuscript:
    """A manuscript with its references.

    Parameters
    ----------
    path : Path
    lists : sequence of Path, optional
        Files of references beside those that the manuscript names.

    Raises
    ------
    BadRequest
        It is not there, of another form, or damaged.
    """
    data = _bytes(path)
    form = _form(data, path)
    blocks, references, warnings = _READERS[form](data, path)
    for extra in lists:
        references += references_in(_bytes(extra), extra.name)
    made = _made(path.name, form, blocks, references, warnings)
    return replace(made, accepted=accepted_beside(path))


def read_words(text: str, references: str = "") -> Manuscript:
    """Markdown or LaTeX that came as words, with its list: no file is read that it names.

    Raises
    ------
    BadRequest
        It is empty, or the list cannot be read.
    """
    if not text.strip():
        raise BadRequest("The manuscript is empty.", "Give its text, Markdown or LaTeX.")
    listed = references_in(references.encode(), "references") if references.strip() else []
    if re.search(r"\\(?:documentclass|begin\{|[a-zA-Z]*cite[a-zA-Z]*\*?[\[{])", text):
        blocks = latex.blocks(text)
        listed += [reference_of(key, latex.plain(one)) for key, one, _ in latex.bib_items(text)]
        return _made("manuscript", "latex", blocks, listed, [])
    items = markdown.metadata(text).get("references")
    if isinstance(items, list):
        listed += [csl_reference(one) for one in items if isinstance(one, dict)]
    return _made("manuscript", "markdown", markdown.blocks(text), listed, [])


def _made(
    name: str, form: Form, blocks: list[Block], references: list[Reference], warnings: list[str]
) -> Manuscript:
    """With the list that is printed, where there is no other, and keys that are identifiers."""
    if not references and form != "latex" and not _names_keys(blocks):
        blocks, references = with_printed_list(blocks)
    known = by_key(references)
    cited = dict.fromkeys(key for one in blocks for mark in one.marks for key in mark.keys)
    references += [Reference(key, ids, Paper(Ids())) for key, ids in _named(cited, known)]
    if not references:
        warnings.append("It has no list of references that could be read.")
    return Manuscript(name, form, tuple(blocks), tuple(references), tuple(warnings))


def _names_keys(blocks: Iterable[Block]) -> bool:
    """Whether citations name keys, which numbers and names of a printed list are none of."""
    return any(key[0] != "#" for one in blocks for mark in one.marks for key in mark.keys)


def _named(keys: Iterable[str], known: Container[str]) -> Iterator[tuple[str, Ids]]:
    """The keys that are identifiers themselves, and no key of a list."""
    for key in keys:
        if key not in known and (":" in key or "/" in key) and (ids := Ids.maybe(key)):
            yield key, ids


def _bytes(path: Path) -> bytes:
    try:
        if not path.is_file():  # nor a pipe, which may never end
            raise BadRequest(f"There is no file {path}.", "Check its name.")
        if path.stat().st_size > MOST_BYTES:
            msg = f"{path.name} has more than {MOST_BYTES:,} bytes."
            raise BadRequest(msg, "Check it without its pictures.")
        return path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        msg = f"{path.name} cannot be read: {getattr(error, 'strerror', error)}."
        raise BadRequest(msg, "Look at its name and at the folder.") from None


def _form(data: bytes, path: Path) -> Form:
    suffix = path.suffix.lower()
    if b"%PDF-" in data[:1024]:
        return "pdf"
    if data[:4] == b"PK\x03\x04":
        return "docx"
    if b"\0" in data[:1000] and data[:2] not in {b"\xff\xfe", b"\xfe\xff"}:
        raise BadRequest(f"{path.name} is no manuscript that can be read.", _FORMS)
    if suffix in _LATEX or b"\\documentclass" in data[:20_000]:
        return "latex"
    return "markdown" if suffix in _MARKDOWN else "text"


_Read = tuple[list[Block], list[Reference], list[str]]


def _read_markdown(data: bytes, path: Path) -> _Read:
    text = decode_lines(data).read()
    told = markdown.metadata(text)
    named = told.get("bibliography") or []
    references, warnings = _beside(path, [named] if isinstance(named, str) else named)
    items = told.get("references")
    if isinstance(items, list):
        references += [csl_reference(one) for one in items if isinstance(one, dict)]
    return markdown.blocks(text, path.name), references, warnings


def _read_latex(data: bytes, path: Path) -> _Read:
    text = decode_lines(data).read()
    files, home = {}, _home(path)
    for other in sorted(path.parent.rglob("*.tex"))[:500]:
        if other != path and _is_inside(other, home):
            with suppress(BadRequest):
                name = other.relative_to(path.parent).as_posix()
                files[name] = decode_lines(_bytes(other)).read()
    whole = [text, *(one for name, one in files.items() if name.rpartition("/")[2] in text)]
    names = [name for one in [text, *files.values()] for name in latex.sources(one)]
    references, warnings = _beside(path, dict.fromkeys(names))
    printed = path.with_suffix(".bbl")
    if not references and printed.is_file() and _is_inside(printed, home):
        whole.append(decode_lines(_bytes(printed)).read())
    for one in whole:
        for key, source, at in latex.bib_items(one):
            line = one.count("\n", 0, at) + 1
            place = Place(path.name if one is text else printed.name, line, line)
            references.append(reference_of(key, latex.plain(source), place=place))
    return latex.blocks(text, path.name, files), references, warnings


def _read_text(data: bytes, path: Path) -> _Read:
    text = decode_lines(data).read()
    builder = BlockBuilder(text, path.name)
    at = 0
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if not bare or _begins_entry(bare):
            builder.end()
        if bare:
            builder.add(f"{line.rstrip()} ", at, 0)
        at += len(line)
    builder.end()
    return builder.blocks, [], []


def _begins_entry(line: str) -> bool:
    return bool(re.match(r"\[\d{1,3}\]|\d{1,3}\.\s+\S|references?$|bibliography$", line, re.I))


def _read_docx(data: bytes, path: Path) -> _Read:
    from . import docx

    blocks, references = docx.read(data)
    return blocks, references, []


def _read_pdf(data: bytes, path: Path) -> _Read:
    from ..readers.pdf import reader
    from ..readers.source_words import Finder, words_of

    fetched = Fetched(data, "pdf", "", path.name, "file")
    blocks = markdown.blocks(reader.read(fetched).markdown)
    source = words_of(fetched)
    find = Finder(source).find if source else lambda _: ()
    made = [replace(one, at=(), lines=(), pages=_pages(one, find)) for one in blocks]
    lost = sum(not one.pages and one.kind == "prose" and " " in one.text[80:] for one in made)
    told = f"On which pages {lost} of {len(made)} paragraphs stand could not be told."
    return made, [], [told] if lost else []


def _pages(block: Block, find: Callable[[str], tuple[SourcePlace, ...]]) -> list[tuple[int, int]]:
    """The pages of a block with the first sentence on each."""
    pages = [place.page for place in find(block.text)]
    found = [(0, page) for page in pages[:1]]
    for one in sentences(block) if len(pages) > 1 else ():
        there = find(one.text)
        if there and found[-1][1] < there[0].page <= pages[-1]:
            found.append((one.start, there[0].page))
    return found


_READERS = {
    "markdown": _read_markdown,
    "latex": _read_latex,
    "text": _read_text,
    "docx": _read_docx,
    "pdf": _read_pdf,
}


def _beside(path: Path, names: Iterable[object]) -> tuple[list[Reference], list[str]]:
    """The references of the files a manuscript names, and which could not be read.

    Somebody else may have written it. So it names files of its folder, or of the repository it is
    in, and no others; those a person names (``--references``).
    """
    references: list[Reference] = []
    warnings: list[str] = []
    home = _home(path)
    for name in names:
        file = path.parent / str(name)
        if not _is_inside(file, home):
            told = f"The list {name} is not in {home.name or home}, so it was not read."
            warnings.append(f"{told} If it is yours, name it: --references {quote(str(file))}")
            continue
        try:
            references += references_in(_bytes(file), str(name))
        except PaperError as error:
            warnings.append(f"The list {name} was not read. {error.message}")
    return references, warnings


def _home(path: Path) -> Path:
    """The folder whose files a manuscript may name: that of its repository, else its own."""
    folder = path.resolve().parent
    return next((one for one in (folder, *folder.parents) if (one / ".git").exists()), folder)


def _is_inside(file: Path, home: Path) -> bool:
    """Whether a file, where its links lead, is in a folder."""
    try:
        return file.resolve().is_relative_to(home)
    except (OSError, RuntimeError, ValueError):  # links in circles, a zero byte
        return False


def fingerprint(*words: str) -> str:
    """A short name of a finding, the same wherever it stands."""
    plain = "\n".join(" ".join(word.split()) for word in words)
    return hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()[:_LENGTH]


def accepted_beside(manuscript: Path) -> dict[str, str]:
    """The accepted findings of a manuscript, each with its reason; none without the file.

    Raises
    ------
    BadRequest
        A line has no reason, or the file cannot be read.
    """
    file = manuscript.with_name(manuscript.name + SUFFIX)
    if not file.is_file():
        return {}
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise BadRequest(f"{file.name} is too long.", "It has a line for each finding.")
        return dict(_read(decode_lines(file.read_bytes()), file.name))
    except OSError as error:
        msg = f"{file.name} cannot be read: {error.strerror}."
        raise BadRequest(msg, "Look at the file.") from None


def _read(lines: Iterable[str], name: str) -> Iterable[tuple[str, str]]:
    for at, line in enumerate(lines, 1):
        found, _, reason = line.strip().partition(" ")
        if found and found[0] != "#":
            if not reason.strip():
                msg = f"{name}, line {at}: {found[:_LENGTH]} has no reason."
                raise BadRequest(msg, "Write behind the fingerprint why it is accepted.")
            yield found.lower(), reason.strip()
