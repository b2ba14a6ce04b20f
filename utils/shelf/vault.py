"""Read and write the text files of a shelf in both forms, and collect the extra facts of notes.

A shelf may hold text files and notes (`.markdown_note`) side by side. Everything else on the shelf
reads and writes plain text through this module, so checksums, places in a text, and passages are
the same in both forms.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import shorten

from ..citations import to_csl_item
from ..citations.keys import CitationKeyAssigner
from ..lists.printed_references import find_printed_ids, iterate_reference_lines
from ..model.paper import StoredPaper
from ..system.plain_text import one_line
from . import paper_file
from .catalogue import Catalogue
from .markdown_note import NoteFacts, note_to_text, read_citekey, text_to_note
from .pdf_files import PdfFiles
from .record import ShelfRecord

_LONGEST_DESCRIPTION = 120  # characters of a link's text
_MOST_NAMES = 5_000  # identifiers of one reference list


def read_text_file(path: Path, stored: StoredPaper | None = None) -> bytes:
    """Return a text file as plain text; a note that is not a paper's as it is.

    Parameters
    ----------
    path : Path
        The file.
    stored : StoredPaper, optional
        The paper that the file should hold: its header stands in for unreadable front matter.

    Raises
    ------
    OSError
        The file cannot be read.
    """
    data = path.read_bytes()
    if path.suffix.lower() != paper_file.NOTE:
        return data
    header = paper_file.parse_paper_file(paper_file.add_header(stored, "")) if stored else None
    text = note_to_text(data.decode("utf-8", "replace"), header)
    return data if text is None else text.encode("utf-8", "replace")


def is_text_file(path: Path) -> bool:
    """Return whether a file may be a paper's: a text file, or a note with a paper's header."""
    if path.suffix.lower() != paper_file.NOTE:
        return path.suffix.lower() == paper_file.TEXT
    return note_to_text(path.read_bytes().decode("utf-8", "replace")) is not None


class Vault:
    """The Markdown notes of one shelf, with the facts that notes show beyond the text.

    Parameters
    ----------
    folder : Path
        The folder of the shelf.
    catalogue : Catalogue
        Finds the cited papers.

    Attributes
    ----------
    keys : str
        The pattern of citation keys (`..citations.keys`).
    """

    def __init__(self, folder: Path, catalogue: Catalogue) -> None:
        self.folder = folder
        self.keys = ""
        self._catalogue = catalogue
        self._pdfs = PdfFiles(folder)

    def build_text_file(self, record: ShelfRecord, data: bytes, citekey: str = "") -> bytes:
        """Return the bytes of a text's file, built from its plain text *data*.

        What a person added to the note that is there stays, and so does its citation key, unless
        *citekey* is given or another paper has the file now.
        """
        path = Path(record.stored.path)
        if path.suffix != paper_file.NOTE:
            return data
        before = path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""
        text = data.decode("utf-8", "replace")
        usual, there = (
            CitationKeyAssigner(self.keys).assign_key(record.stored.paper),
            read_citekey(before),
        )
        citekey = citekey or (there if there.startswith(usual) else usual)
        extras = self._collect_note_facts(record, text, citekey)
        return text_to_note(text, extras, before).encode("utf-8", "replace")

    def _collect_note_facts(self, record: ShelfRecord, text: str, citekey: str) -> NoteFacts:
        stored = record.stored
        paper = stored.paper
        keywords = str(to_csl_item(paper).get("keyword", ""))
        tags = [f"papershelf/{stored.kind.replace('_', '-')}"]
        tags += [f"papershelf/{stored.version}"] if stored.version else []
        tags += ["papershelf/retracted"] if paper.retracted else []
        return NoteFacts(
            citekey=citekey,
            tags=tuple(tags),
            keywords=tuple(filter(None, keywords.split("; "))),
            pdf=self._format_pdf_link(stored),
            permissions=stored.permissions.to_row() if stored.kind == "full_text" else {},
            cited=tuple(self._find_cited_papers(record, text)),
        )

    def _format_pdf_link(self, stored: StoredPaper) -> str:
        """Return the link to the PDF of a text: inside the vault, or to a file elsewhere."""
        pdf = self._pdfs.find_pdf(stored)
        if pdf is None:
            return ""
        return pdf.path.as_uri() if pdf.held_by == "place" else f"[[{pdf.path.name}]]"

    def _find_cited_papers(self, record: ShelfRecord, text: str) -> list[tuple[str, str]]:
        """Return file and description of the papers that a text cites, in the order of citation."""
        lines = iterate_reference_lines(text, record.stored.sections)
        printed = {name: None for line in lines for name in find_printed_ids(line).names()}
        cited: dict[str, ShelfRecord] = {}
        for entry in self._catalogue.find_entries_by_names(list(printed)[:_MOST_NAMES]):
            found = ShelfRecord.from_json(entry.record, self.folder)
            if found.stored.kind == "rejected" or found.ids.shares(record.ids):
                continue
            twin = next((file for file, one in cited.items() if one.ids.shares(found.ids)), "")
            if not twin or found.rank > cited[twin].rank:
                cited[twin or found.file] = found
        return [(one.file, _describe_citation(one)) for one in cited.values()]


def _describe_citation(record: ShelfRecord) -> str:
    """Return the first author, the year and the title of a paper."""
    paper = record.stored.paper
    author = paper.authors[0].family or paper.authors[0].name if paper.authors else ""
    named = " ".join(filter(None, (author.partition(",")[0], paper.year)))
    whole = one_line(": ".join(filter(None, (named, paper.title))))
    return shorten(whole, _LONGEST_DESCRIPTION, placeholder=" …")
