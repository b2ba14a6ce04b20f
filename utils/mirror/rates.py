"""Rates of the steps of a mirror, by which plans are computed: assumed ones, or measured here.

`measure_rates` runs one file of PubMed through all steps in a temporary folder: reading, cutting,
writing, indexing by words and, with a local model, some vectors. The result is kept in the mirror's
folder. The assumed rates were measured on two cores that other work used as well; see
`quality/benchmarks/README.md`. A machine with more processes than cores takes up to twice as long.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..corpus.finders import make_embedder
from ..errors import StoreFailed
from ..model.paper import utc_now
from ..sources.pubmed_files import fetch_file, fetch_md5, list_files
from ..system import safe_files
from .generations import Generations
from .manifest import SourceFile
from .parts import Part, read_part
from .pubmed import SOURCE, to_source_file
from .pubmed_files import compute_md5

if TYPE_CHECKING:
    from ..http import Web
    from ..settings import Settings

FILE = "rates.json"
_VECTORS_S = 15.0  # of CPU, at least, for the passages that are embedded
_BATCH = 64  # passages embedded at once


@dataclass(frozen=True, slots=True)
class Rates:
    """Rates of one core per second of CPU, and sizes; ``origin`` names the measurement."""

    pubmed_bytes: float = 2.4e6  # packed bytes that are read, cut and written
    pubmed_parts: float = 0.85  # bytes of parts for each packed byte
    pubmed_passages: float = 0.0007  # for each packed byte: 45 million of 64 GB
    pmc_article_s: float = 0.017  # seconds of an article
    pmc_article_bytes: float = 20_000.0  # packed: its JATS and metadata
    pmc_parts: float = 1.5  # bytes of parts for each packed byte
    pmc_passages: float = 34.0  # of an article
    pmc_requests: float = 16.0  # a second, on any number of cores, where no other rate is set
    words: float = 2_300.0  # passages indexed by words, with their papers
    words_bytes: float = 1_000.0  # of a passage in that index
    joining_share: float = 0.11  # of indexing that one process does, which joins the splits
    vectors: float = 50.0  # passages read by the encoder of 384 numbers
    vector_bytes: float = 458.0  # 384 numbers, their signs and a key
    citations: float = 1.0e6  # edges read and put together in both orders
    citations_bytes: float = 14.6  # of an edge: NIH's pairs, and the files in both orders
    origin: str = "quality/benchmarks/README.md"


def read_rates(folder: Path) -> Rates:
    """Return the rates measured in a mirror's folder; without any, the assumed ones."""
    try:
        return Rates(**json.loads((folder / FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return Rates()


def measure_rates(folder: Path, web: Web, settings: Settings) -> None:
    """Measure the rates of this machine in about a minute, and keep them in the mirror's folder.

    Raises
    ------
    Unreachable
        The mirror keeps no file of PubMed, and NLM does not answer.
    StoreFailed
        The file cannot be read, or the disk refuses.
    """
    safe_files.make_folder(folder)
    with safe_files.open_temporary_folder(folder) as place:
        file, path = _get_sample(folder, web, place)
        job = file.to_job(path, place)
        part = read_part(job)
        if part.reason:
            raise StoreFailed(f"{file.name} cannot be read: {part.reason}", "Run it again.")
        size = path.stat().st_size
        measured = {
            "pubmed_bytes": size / max(part.cpu, 0.001),
            "pubmed_parts": part.bytes / size,
            **_measure_words(file.add_part(part, file.md5), part, place),
            **_measure_vectors(job.passages, settings),
            "origin": f"measured here on {utc_now()[:10]}",
        }
    safe_files.write_file(folder / FILE, json.dumps(measured, indent=1).encode())


def _get_sample(folder: Path, web: Web, place: Path) -> tuple[SourceFile, Path]:
    """Return a file of PubMed of middle size: a kept one, else fetched into *place*."""
    kept = sorted((folder / "source" / SOURCE).glob("*.xml.gz"), key=lambda one: one.stat().st_size)
    if kept:
        path = kept[len(kept) // 2]
        return SourceFile(SOURCE, path.name, "", "26n0001", 2_600_001, md5=compute_md5(path)), path
    listed = sorted(list_files(web), key=lambda one: one.size)
    middle = listed[len(listed) // 2]
    md5, path = fetch_md5(middle, web), place / middle.name
    safe_files.write_file(path, fetch_file(middle, md5, web))
    return replace(to_source_file(middle), md5=md5), path


def _measure_words(file: SourceFile, part: Part, place: Path) -> dict[str, float]:
    """Index the passages of a part and their papers by words."""
    from .passages import PassageIndex
    from .splits import update_indexes
    from .words import WordIndex

    generations = Generations(place, SOURCE)
    generations.publish(generations.build([file], {}).name)
    began = time.process_time()
    for _ in update_indexes([WordIndex(generations), PassageIndex(generations)], map):
        pass
    cpu = max(time.process_time() - began, 0.001)
    sizes = (path.stat().st_size for path in (place / "words").rglob("*") if path.is_file())
    passages = max(part.passages, 1)
    return {"words": passages / cpu, "words_bytes": sum(sizes) / passages}


def _measure_vectors(passages: Path, settings: Settings) -> dict[str, float]:
    """Embed passages for some seconds, if the settings name a model on this machine."""
    from pyarrow import parquet

    embedder = make_embedder(settings)
    is_local = settings.embeddings_provider != "openai"
    if embedder is None or not is_local or embedder.explain_unavailable():
        return {}
    texts: Iterable[str] = parquet.read_table(passages, columns=["text"])["text"].to_pylist()
    left, made = list(texts), 0
    embedder.embed_texts(left[:1])  # loads the model
    began = time.process_time()
    while left and time.process_time() - began < _VECTORS_S:
        made += len(embedder.embed_texts(left[:_BATCH]))
        left = left[_BATCH:]
    return {"vectors": made / max(time.process_time() - began, 0.001)}
