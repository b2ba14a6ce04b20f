"""LaTeX submissions as arXiv sends them, made of the files a test names."""

import io
import tarfile
from collections.abc import Mapping

from utils.model.paper import Fetched


def pack(files: Mapping[str, str | bytes], mode: str = "w:gz") -> bytes:
    """Return a tar of these files."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:  # type: ignore[call-overload]
        for name, text in files.items():
            body = text.encode() if isinstance(text, str) else text
            member = tarfile.TarInfo(name)
            member.size = len(body)
            archive.addfile(member, io.BytesIO(body))
    return packed.getvalue()


def wrap(body: str, preamble: str = "") -> str:
    """Return a document around a body."""
    return (
        f"\\documentclass{{article}}\n{preamble}\n\\begin{{document}}\n{body}\n\\end{{document}}\n"
    )


def fetch(source: str | bytes | Mapping[str, str | bytes]) -> Fetched:
    """Return a source as arXiv's route hands it over."""
    body = pack(source) if isinstance(source, Mapping) else source
    body = body.encode() if isinstance(body, str) else body
    return Fetched(body, "latex", "", "arxiv", "arxiv")
