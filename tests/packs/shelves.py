"""A shelf with papers and PDF files, for the tests of packs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.shelf.papers import document, fetched, paper
from utils.model.job import Harvested
from utils.model.paper import Author, Paper
from utils.shelf import Shelf


def pdf_bytes(number: int) -> bytes:
    """The PDF of a paper, unlike that of any other."""
    return b"%PDF-1.4\n" + f"paper {number}\n".encode() * (50 + number) + b"%%EOF\n"


def about(number: int, **more: Any) -> Paper:
    made = paper(pmid=str(number), doi=f"10.1000/{number}")
    named = {"title": f"On cell {number}", "authors": (Author(f"Roe{number}", "Jane"),), **more}
    return replace(made, **named)


def file_pdf(shelf: Shelf, number: int, via: str = "unpaywall", **more: Any) -> Harvested:
    """File a paper that was read from a PDF; return its row of a harvest."""
    license_ = more.pop("license", "CC BY")
    known = about(number, **more)
    sent = fetched(pdf_bytes(number), media="pdf", via=via, license=license_)
    stored = shelf.save_full_text(
        known, document(license=license_), sent, source="DOI", attempts=()
    )
    return Harvested(number, f"PMID {number}", "full_text", known, Path(stored.path).name)


def file_xml(
    shelf: Shelf, number: int, via: str = "pmc_cloud", license_: str = "CC BY"
) -> Harvested:
    """File a paper whose text came as XML; return its row of a harvest."""
    known, sent = about(number), fetched(via=via, license=license_)
    stored = shelf.save_full_text(
        known, document(license=license_), sent, source="PMC", attempts=()
    )
    return Harvested(number, f"PMID {number}", "full_text", known, Path(stored.path).name)
