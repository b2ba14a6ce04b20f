r"""Read LaTeX sources, as arXiv stores them, with pandoc (extra ``latex``).

`.submission` unpacks the archive in memory and chooses the main file. Pandoc's sandbox cannot open
other files, so this module inserts the files of ``\input`` and ``\bibliography``, and writes the
``.bbl`` as a numbered list. `.pandoc` parses that text, rewrites it in the conventions of the other
readers and writes markdown, which `.plain_markdown` reads.

Without a ``.bbl``, the references come from the ``.bib``. Numbers of equations and sections,
``siunitx`` quantities and biblatex lists are not written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ..errors import BadContent
from ..model.paper import Document, Fetched
from ..outline.words import strip_markup
from . import pandoc, plain_markdown
from .author_names import extract_family_names_from_line
from .pandoc import (
    CitedReference,
    PandocRewriter,
    convert_to_markdown,
    make_header_node,
    nodes_to_text,
    parse_latex,
)
from .submission import Submission, unpack_submission

__all__ = ["find_picture_files", "is_pandoc_available", "read_document"]

_MOST_BYTES: Final = 12_000_000  # of the joined text
_MOST_BIB_BYTES: Final = 2_000_000
_MOST_FILES: Final = 500
_MOST_AUTHORS: Final = 5000
_INCLUDE: Final = re.compile(
    r"(?<!\\)%[^\n]*"
    r"|\\(?:input|include|subfile)(?![a-zA-Z])\s*(?:\{(?P<braced>[^{}\n]+)\}|(?P<bare>[^\s{}\\%]+))"
    r"|\\usepackage\s*(?:\[[^\]]*\])?\s*\{(?P<packages>[^{}]*)\}"
    r"|\\(?:bibliography|addbibresource)(?![a-zA-Z])\s*(?:\[[^\]]*\])?\s*\{(?P<bib>[^{}]*)\}"
    r"|\\printbibliography(?![a-zA-Z])"
)
_TEXT_FILE: Final = re.compile(r"[^.]*(?:\.tex)?", re.I)  # drawings and style files end otherwise
_DEFINITION: Final = re.compile(
    r"^[ \t]*\\(?:(?:re)?newcommand|providecommand|def|DeclareMathOperator|newtheorem)\b[^@\n]*$",
    re.M,
)
_LIST: Final = re.compile(r"\\begin\{thebibliography\}(.*?)(?:\\end\{thebibliography\}|\Z)", re.S)
_ENTRY: Final = re.compile(
    r"\\bibitem\s*(?:%\s*)?(?:\[((?:[^\[\]{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\])?\s*(?:%\s*)?"
    r"\{([^{}]*)\}"
)
_AUTHORS: Final = re.compile(r"(.+?)\(\d{4}[a-z]?\)", re.S)
_SILENT: Final = re.compile(
    r"\\(?:newblock|BibitemOpen)(?![a-zA-Z])|\\penalty\s*-?\d+|\\href\s*@noop\s*\{[^{}]*\}"
    r"|\\BibitemShut\s*\{[^{}]*\}"
)
_RULES: Final = re.compile(r"\\c(?:midrule|line)\s*(?:\([^()]*\))?\s*\{[^{}]*\}")
# What the bibliography styles of REVTeX, natbib and AASTeX wrap their fields in.
_STYLES: Final = "".join(
    [rf"\providecommand{{\{name}}}[1]{{#1}}" for name in (
        "bibnamefont", "bibfnamefont", "citenamefont", "natexlab", "urlprefix", "doi")]
    + [rf"\providecommand{{\{name}}}[2]{{#2}}" for name in ("bibinfo", "bibfield", "Eprint")]
    + [rf"\providecommand{{\{name.lower()}}}{{{name}}}" for name in (
        "ApJ", "ApJL", "ApJS", "AJ", "MNRAS", "PRD", "PRL", "PASP", "JCAP")]
    + [r"\providecommand{\aap}{A\&A}\providecommand{\araa}{ARA\&A}\providecommand{\nat}{Nature}"]
)  # fmt: skip


def is_pandoc_available() -> bool:
    """Return whether LaTeX sources can be read on this machine."""
    return bool(pandoc.find_pandoc_path())


def read_document(fetched: Fetched) -> Document:
    """Convert a LaTeX submission to a document; a truncated one gets the verdict ``partial``.

    Raises
    ------
    BadContent
        The submission contains no TeX, pandoc cannot read it, or the extra ``latex`` is not
        installed.
    """
    source = _MergedSource(unpack_submission(fetched.body))
    try:
        document, meta, _ = _parse_and_rewrite(source)
        markdown = convert_to_markdown(document)
    except RecursionError as error:
        raise BadContent("The LaTeX source is nested too deeply.", verdict="not_a_paper") from error
    sent = replace(fetched, body=markdown.encode(), media="markdown", charset="utf-8")
    made = plain_markdown.read_document(sent)
    title = strip_markup(_get_metadata_text(meta.get("title"))).replace("*", "")
    return replace(
        made,
        title=title,
        abstract=_get_metadata_text(meta.get("abstract")).strip() or made.abstract,
        authors=_extract_author_family_names(meta.get("author")),
        retracted=bool(re.match(r"\W*(?:retracted|withdrawn)\b", title, re.I)),
        verdict="partial" if source.lost else "full_text",
        evidence=source.lost,
    )


def find_picture_files(fetched: Fetched) -> dict[str, tuple[str, ...]]:
    """Return the picture files of each figure by label ("Figure 2").

    Raises
    ------
    BadContent
        As `read_document` raises.
    """
    try:
        return _parse_and_rewrite(_MergedSource(unpack_submission(fetched.body)))[2].pictures
    except RecursionError as error:
        raise BadContent("The LaTeX source is nested too deeply.", verdict="not_a_paper") from error


def _parse_and_rewrite(
    source: _MergedSource,
) -> tuple[dict[str, Any], dict[str, Any], PandocRewriter]:
    """Return pandoc's document without the front matter, its metadata, and the rewriter."""
    try:
        parsed = parse_latex(source.text, source.bibtex)
    except BadContent:
        if not source.bibtex:
            raise
        parsed = parse_latex(source.text)  # a broken BibTeX file costs the references only
    meta, rewriter = parsed["meta"], PandocRewriter(source.citations)
    blocks = rewriter.rewrite_nodes(parsed["blocks"])
    front: list[dict[str, Any]] = []
    if title := rewriter.rewrite_nodes(_get_metadata_nodes(meta.get("title"))):
        front.append(make_header_node(1, [node for node in title if node["t"] != "Note"]))
    if abstract := rewriter.rewrite_nodes(_get_metadata_nodes(meta.get("abstract"))):
        front += [make_header_node(2, [{"t": "Str", "c": "Abstract"}]), *abstract]
        if blocks and blocks[0]["t"] != "Header":  # or it would read as the end of the abstract
            front.append(make_header_node(2, [{"t": "Str", "c": "Main text"}]))
    return {**parsed, "meta": {}, "blocks": [*front, *blocks]}, meta, rewriter


@dataclass
class _MergedSource:
    """The files of a submission, merged into one text."""

    submission: Submission
    text: str = ""
    bibtex: str = ""
    lost: str = ""
    citations: dict[str, CitedReference] = field(default_factory=dict)
    _files_read: int = 0
    _bib_files: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        main = self.submission.main
        self.lost = "the source is cut off" if self.submission.cut_off else ""
        text = self._read_with_includes(main, 0)
        if len(text) > _MOST_BYTES:
            text, self.lost = text[:_MOST_BYTES], "its files include each other in a loop"
        self.text = _LIST.sub(self._convert_bibliography_to_list, _RULES.sub("", text))
        if not self.citations:
            bibs = (self.submission.find_file_name(name, "", ".bib") for name in self._bib_files)
            text = "\n".join(self.submission.files[bib] for bib in bibs if bib)
            self.bibtex = text if len(text) <= _MOST_BIB_BYTES else ""

    def _read_with_includes(self, name: str, depth: int) -> str:
        """Return the text of a file with the files that it includes."""
        self._files_read += 1
        text = self.submission.files[name]
        folder = name.rpartition("/")[0]
        made: list[str] = []
        at = 0
        for found in _INCLUDE.finditer(text):
            made.append(text[at : found.start()])
            at = found.end()
            in_body = depth > 0 or text.find("\\begin{document}", 0, found.start()) >= 0
            made.append(self._replace_include_command(found, folder, depth, in_body=in_body))
        return "".join([*made, text[at:]])

    def _replace_include_command(
        self, found: re.Match[str], folder: str, depth: int, *, in_body: bool
    ) -> str:
        if found[0].startswith("%"):
            return "%"
        if packages := found["packages"]:
            return found[0] + self._collect_package_definitions(packages)
        if found["bib"] is not None or found[0].startswith("\\printbibliography"):
            self._bib_files += [name.strip() for name in (found["bib"] or "").split(",")]
            bbl = self.submission.main.rpartition(".")[0] + ".bbl"
            is_list = not found[0].startswith("\\addbibresource")
            return self.submission.files.get(bbl, "") if is_list else ""
        name = found["braced"] or found["bare"]
        file = self.submission.find_file_name(name, folder)
        if file and depth < 20 and self._files_read < _MOST_FILES:
            return f"{self._read_with_includes(file, depth + 1)}\n"
        if file:
            self.lost = "its files include each other in a loop"
        elif in_body and _TEXT_FILE.fullmatch(name.strip()):
            self.lost = f"the text includes {name!r}, which is missing from the source"
        return ""

    def _collect_package_definitions(self, packages: str) -> str:
        """Return the one-line definitions in the source's own packages, except layout commands."""
        files = (self.submission.find_file_name(name, "", ".sty") for name in packages.split(","))
        lines = [
            line[0]
            for file in files
            if file
            for line in _DEFINITION.finditer(self.submission.files[file])
            if line[0].count("{") == line[0].count("}")
        ]
        return "\n" + "\n".join(lines) + "\n" if lines else ""

    def _convert_bibliography_to_list(self, found: re.Match[str]) -> str:
        """Return a reference list as an enumeration, and record each entry's number."""
        entries = list(_ENTRY.finditer(found[1]))
        ends = [entry.start() for entry in entries[1:]] + [len(found[1])]
        items = []
        for entry, end in zip(entries, ends, strict=True):
            label = _AUTHORS.match(entry[1] or "")
            authors = label[1].replace("~", " ").strip("{} ") if label else ""
            number = len(self.citations) + 1
            self.citations.setdefault(entry[2].strip(), CitedReference(number, authors))
            items.append(f"\\item {{}}{_SILENT.sub(' ', found[1][entry.end() : end]).strip()}\n\n")
        body = "\\begin{enumerate}\n" + "".join(items) + "\\end{enumerate}\n"
        return f"\n\n{_STYLES}\n\\section*{{References}}\n{body}" if items else ""


def _get_metadata_nodes(meta: Any) -> list[dict[str, Any]]:
    """Return the nodes of a metadata field."""
    return meta["c"] if meta and meta["t"] in {"MetaInlines", "MetaBlocks"} else []


def _get_metadata_text(meta: Any) -> str:
    return " ".join(nodes_to_text(_get_metadata_nodes(meta)).split())


def _extract_author_family_names(meta: Any) -> tuple[str, ...]:
    """Return the authors' family names; addresses follow a line break and are dropped."""
    entries = meta["c"] if meta and meta["t"] == "MetaList" else [meta] if meta else []
    lines = (nodes_to_text(_get_metadata_nodes(entry)).strip().split("\n")[0] for entry in entries)
    plain = (re.sub(r"\$[^$]*\$|[*\\]|\[[^\]]*\]", "", line) for line in lines)
    return tuple(family for line in plain for family in extract_family_names_from_line(line))[
        :_MOST_AUTHORS
    ]
