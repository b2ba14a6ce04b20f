"""The layout of a pack for each program: where the PDF files are, and which file links them.

=========== ============================ ======================= ==============================
program     file of references           PDF files               link to a PDF
=========== ============================ ======================= ==============================
zotero      ``references.ris``           ``PDF/NAME.pdf``        ``L1  - PDF/NAME.pdf``
endnote     ``references.xml``           ``PDF/NUMBER/NAME.pdf`` ``internal-pdf://NUMBER/NAME``
covidence   ``references.xml``, ``.ris`` ``PDF/NUMBER/NAME.pdf`` as for EndNote; none in RIS
rayyan      ``references.ris``           ``PDF/NAME.pdf``        ``L1``; Rayyan matches titles
folder      ``references.ris``, ``.bib`` ``PDF/NAME.pdf``        ``L1``, ``file``
=========== ============================ ======================= ==============================

Where the rules come from:

- Zotero resolves ``L1`` relative to the imported file (its translator *RIS*, ``_parsePath`` in
  ``translate_item.js``).
- EndNote keeps its own files in ``LIBRARY.Data/PDF/NUMBER/`` (samples of IEBH/dedupe-sweep). Who
  imports an XML copies the folder ``PDF`` there (zotero/translators#709).
- Covidence takes EndNote XML and RIS of at most 15,000 references and 50 MB (its help pages), and
  PDF files in bulk as EndNote, Zotero and Mendeley export them. These exports are the same XML
  with the same folder.
- Rayyan compares the title of each uploaded PDF with its references (*Auto-Match*), and finds the
  PDF files of *My Library* by their DOI (help.rayyan.ai).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, get_args

from ..citations import iterate_bibtex_entries, iterate_ris_records
from ..citations.endnote import PDF_FOLDER, iterate_endnote_xml
from ..errors import BadRequest
from ..model.paper import Paper

Program = Literal["covidence", "endnote", "folder", "rayyan", "zotero"]
_Writer = Callable[[Iterable[tuple[Paper, str]], str], Iterator[str]]


class PackLayout(NamedTuple):
    """The layout of a pack for one program.

    ``name`` is the program's name for people, ``files`` are the files of references with their
    writers and ``steps`` the steps of the import. With ``is_numbered`` each PDF has a folder of its
    own; ``max_references`` is the limit of one file (0: no limit).
    """

    name: str
    files: tuple[tuple[str, _Writer], ...]
    steps: tuple[str, ...]
    is_numbered: bool = False
    max_references: int = 0


def _iterate_unlinked_ris(papers: Iterable[tuple[Paper, str]], pattern: str) -> Iterator[str]:
    return iterate_ris_records(((paper, "") for paper, _ in papers), pattern)


_RIS = ("references.ris", iterate_ris_records)
_XML = ("references.xml", iterate_endnote_xml)
_COVIDENCE_MAX_REFERENCES = 15_000
LAYOUTS: dict[Program, PackLayout] = {
    "covidence": PackLayout(
        "Covidence",
        (_XML, ("references.ris", _iterate_unlinked_ris)),
        (
            (
                "If the references are not in the review yet: Import, into Full text review, "
                "the file references.ris."
            ),
            (
                "Full text review, bulk upload of PDFs, as from EndNote: give references.xml "
                "and the folder PDF, or a ZIP of both."
            ),
            "Look through the references that still have no full text: they are in missing.csv.",
        ),
        is_numbered=True,
        max_references=_COVIDENCE_MAX_REFERENCES,
    ),
    "endnote": PackLayout(
        "EndNote",
        (_XML,),
        (
            (
                "Close the library, and copy the folders in PDF into the folder PDF of its .Data "
                "folder. Make the folder PDF if there is none."
            ),
            (
                "Open the library. File, Import, File: references.xml, with the import option "
                "EndNote generated XML."
            ),
        ),
        is_numbered=True,
    ),
    "folder": PackLayout(
        "any program",
        (_RIS, ("references.bib", iterate_bibtex_entries)),
        ("The links in references.ris (L1) and references.bib (file) begin in this folder.",),
    ),
    "rayyan": PackLayout(
        "Rayyan",
        (_RIS,),
        (
            "If the references are not in the review yet: Add References, references.ris.",
            (
                "Select the references, Attach PDF, From my device: the files in PDF. Auto-Match "
                "compares their titles. Or upload the ZIP into My Library, and use Auto-Retrieve."
            ),
        ),
    ),
    "zotero": PackLayout(
        "Zotero",
        (_RIS,),
        (
            "Unpack a ZIP first: the links are relative to references.ris.",
            "File, Import, A file: references.ris. Choose to copy the files to Zotero's storage.",
        ),
    ),
}


def get_pack_layout(program: str) -> PackLayout:
    """Return the layout of a pack for a program.

    Raises
    ------
    BadRequest
        The program is unknown.
    """
    for name in get_args(Program):
        if name == program:
            return LAYOUTS[name]
    msg = f"There is no pack for {program!r}."
    raise BadRequest(msg, f"Choose among {', '.join(LAYOUTS)}.")


def build_pdf_path(layout: PackLayout, name: str, paper: Paper) -> str:
    """Return the path of a PDF in the pack; the paper determines the number of its folder."""
    if not layout.is_numbered:
        return f"{PDF_FOLDER}/{name}"
    digest = hashlib.sha256(f"{paper.ids.key} {name}".encode()).hexdigest()
    return f"{PDF_FOLDER}/{int(digest[:16], 16) % 10**10:010}/{name}"


def iterate_reference_files(
    layout: PackLayout, references: Sequence[tuple[Paper, str]], keys: str = ""
) -> Iterator[tuple[str, bytes]]:
    """Yield the reference files (name, content), split if the program limits their length.

    *keys* is the pattern of citation keys (`..citations.keys`).
    """
    step = layout.max_references or max(1, len(references))
    parts = [references[start : start + step] for start in range(0, len(references), step)] or [()]
    for name, write in layout.files:
        for number, part in enumerate(parts, 1):
            stem, _, suffix = name.partition(".")
            file = name if len(parts) == 1 else f"{stem}_{number}.{suffix}"
            yield file, "".join(write(part, keys)).encode("utf-8", "replace")
