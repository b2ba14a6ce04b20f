"""Vectors of all passages of a generation: published ones where the text is the same, else made.

The work of a part is a job for any engine, which makes vectors with the encoder of the settings.
The keys that lack a vector are chosen here, so that no text is embedded twice, in one run or in
two; what is killed is done again from where it was.

NCBI publishes the vectors of MedCPT's article encoder for most of PubMed: per chunk
``embeds_chunk_I.npy`` (float32, papers × 768), ``pmids_chunk_I.json`` (PMIDs in the order of the
rows) and ``pubmed_chunk_I.json`` (by PMID: ``t`` title, ``a`` abstract), without checksums: sizes
are compared. https://ftp.ncbi.nlm.nih.gov/pub/lu/MedCPT/pubmed_embeddings/
One is taken where title and abstract are those of a passage here, letter by letter.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..corpus.finders import make_embedder
from ..errors import BadContent, BadRequest, EmbeddingsFailed, StoreFailed
from ..model.passage import build_embedding_text
from ..settings import load_settings
from ..system import safe_files
from .engines import Lost
from .locks import exclusive_lock
from .passages import KIND, make_key
from .reading import read_passages_at, read_rows_at
from .vectors import Keys, VectorStore, pack_vectors
from .words import group_by_file

if TYPE_CHECKING:
    from ..corpus.finders import Embedder
    from ..settings import Settings
    from .engines import Run
    from .generations import Generation, Generations
    from .manifest import SourceFile

PUBLISHED = "MedCPT"
_CHUNK = re.compile(r"embeds_chunk_(\d+)\.npy")
_BATCH = 256  # texts given to an encoder at once
_ROWS = 50_000  # published vectors that are looked at together
_ABSORBED = 64  # parts between two times that segments are made


@dataclass(frozen=True, slots=True)
class EmbedJob:
    """A part whose passages at some positions are to be embedded, as far as keys are wanted."""

    records: str
    passages: str
    name: str
    positions: tuple[int, ...]
    keys: tuple[int, ...]
    store: str
    settings: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class EmbedProgress:
    """The progress: parts, vectors made, vectors taken from published ones."""

    files: int = 0
    total: int = 0
    made: int = 0
    taken: int = 0
    model: str = ""

    def add(self, before: EmbedProgress | None) -> EmbedProgress:
        """Return the sum of this progress and the progress of an earlier source."""
        if before is None:
            return self
        names = ("files", "total", "made", "taken")
        sums = {name: getattr(before, name) + getattr(self, name) for name in names}
        return replace(self, **sums)


def get_vector_store(generations: Generations, model: str) -> VectorStore:
    """Return the store of a model's vectors."""
    words = re.sub(r"[^\w.-]+", "-", model)[:60]
    mark = hashlib.sha256(model.encode()).hexdigest()[:8]
    return VectorStore(generations.mirror / "vectors" / generations.source / f"{words}-{mark}")


def embed(
    generations: Generations, settings: Settings, run: Run, published: Path | None = None
) -> Iterator[EmbedProgress]:
    """Make a vector of every passage of the published generation; iterating does the work.

    Parameters
    ----------
    generations : Generations
    settings : Settings
        Whose encoder it is.
    run : Run
        An engine; keys of services are read by workers from their own environment.
    published : Path, optional
        A folder with NCBI's vectors of MedCPT, or some of its chunks.

    Raises
    ------
    EmbeddingsFailed
        The encoder cannot be used; what was made until then stays.
    BadRequest
        The published vectors are of another model than that of the settings.
    StoreBusy
        Another process is at it.
    BadContent
        A published chunk is not whole.
    """
    embedder = make_embedder(settings)
    if embedder is None or (missing := embedder.explain_unavailable()):
        raise EmbeddingsFailed("EMBEDDINGS_PROVIDER=none." if embedder is None else missing)
    if published and PUBLISHED not in embedder.model:
        msg = f"The published vectors are MedCPT's, and the settings name {embedder.model}."
        hint = (
            "Set EMBEDDINGS_MODEL to a folder called MedCPT, with its encoders in the subfolders "
            "question and passage: optimum-cli export onnx -m ncbi/MedCPT-Query-Encoder "
            "MedCPT/question, and the same with MedCPT-Article-Encoder and MedCPT/passage."
        )
        raise BadRequest(msg, hint)
    store = get_vector_store(generations, embedder.model)
    safe_files.make_folder(store.folder)
    with exclusive_lock(store.folder / "embed.lock", f"the vectors in {store.folder}"):
        safe_files.delete_stale_temporary_files(store.new)
        store.delete_absorbed_chunks()
        work = _Embedding(generations, settings, embedder, store)
        yield from work.run_steps(run, published)


class _Embedding:
    """One run."""

    def __init__(
        self, generations: Generations, settings: Settings, embedder: Embedder, store: VectorStore
    ) -> None:
        self.generations, self.store, self.embedder = generations, store, embedder
        self.generation: Generation = generations.require_current()
        names = ("embeddings_provider", "embeddings_model", "openai_base_url")
        self.settings = tuple((name, str(getattr(settings, name) or "")) for name in names)
        self.progress = EmbedProgress(model=embedder.model)

    def run_steps(self, run: Run, published: Path | None) -> Iterator[EmbedProgress]:
        live = self.generations.folder / self.generation.name / "live.parquet"
        positions = group_by_file(live, None)
        files = {file.order: file for file in self.generations.list_files(self.generation)}
        left = [files[order] for order in sorted(positions)]
        if published:
            yield from self._take_published(published, left)
        self._advance_progress(total=len(left))
        yield self.progress
        jobs = self._make_jobs(left, positions)
        for made in run(embed_part, jobs):
            if isinstance(made, Lost):
                raise StoreFailed(f"{made.job.name}: {made.reason}.", "Run it again.")
            self._advance_progress(files=self.progress.files + 1, made=self.progress.made + made)
            if self.progress.files % _ABSORBED == 0:
                self._absorb_vectors()
            yield self.progress
        self._absorb_vectors(self.generation.name)
        self._advance_progress(files=len(left))
        yield self.progress

    def _make_jobs(
        self, files: Iterable[SourceFile], positions: dict[int, Any]
    ) -> Iterator[EmbedJob]:
        """Yield parts that lack vectors; a text in several parts counts in the first."""
        chosen = SeenKeys()
        for file in files:
            keys = self.store.find_missing(
                _read_keys(self._get_passages_path(file), positions[file.order])
            )
            keys = chosen.add(keys)
            if not len(keys):
                self._advance_progress(files=self.progress.files + 1)
                continue
            yield EmbedJob(
                str(file.get_part_path(self.generations.mirror)),
                str(self._get_passages_path(file)),
                f"{file.sequence}-{len(keys)}-{int(keys[0]) & 0xFFFFFFFF:08x}",
                tuple(positions[file.order].tolist()),
                tuple(keys.tolist()),
                str(self.store.folder),
                self.settings,
            )

    def _take_published(self, folder: Path, files: Iterable[SourceFile]) -> Iterator[EmbedProgress]:
        """Take published vectors of texts that are present."""
        mirror_keys = [_read_keys(self._get_passages_path(file)) for file in files]
        wanted = (
            self.store.find_missing(np.concatenate(mirror_keys)) if mirror_keys else np.empty(0)
        )
        chunks = sorted(
            (int(found[1]), path)
            for path in folder.glob("embeds_chunk_*.npy")
            if (found := _CHUNK.fullmatch(path.name))
        )
        if not chunks:
            raise BadRequest(f"{folder} holds no embeds_chunk_….npy.", "Name another folder.")
        for number, path in chunks:
            for at, rows in _read_published_rows(number, path, np.sort(wanted)):
                self.store.write_chunk(f"published-{number:03}-{at:09}", rows)
                self._advance_progress(taken=self.progress.taken + len(rows))
                yield self.progress
            self._absorb_vectors()

    def _get_passages_path(self, file: SourceFile) -> Path:
        return file.get_part_path(self.generations.mirror, KIND)

    def _absorb_vectors(self, generation: str = "") -> None:
        self.store.build_segments(self.embedder.model, self.embedder.dim, generation)

    def _advance_progress(self, **facts: Any) -> None:
        self.progress = replace(self.progress, **facts)


class SeenKeys:
    """Keys that were met before, up to tens of millions.

    They lie in sorted arrays, of which no two are of about the same length: a new array is merged
    with the last one as long as that is not twice as long. So each key is moved a few times only,
    and looked for in a few arrays, however many there are.

    >>> seen = SeenKeys()
    >>> seen.add(np.array([3, 1, 3])), seen.add(np.array([2, 3]))
    (array([1, 3]), array([2]))
    """

    def __init__(self) -> None:
        self._arrays: list[Keys] = []

    def add(self, keys: Keys) -> Keys:
        """Take in *keys*, and return those that are new, sorted, each once."""
        new = np.unique(keys)
        for array in self._arrays:
            at = np.minimum(np.searchsorted(array, new), len(array) - 1)
            new = new[array[at] != new]
        merged = new
        while self._arrays and len(self._arrays[-1]) < 2 * len(merged):
            # Two sorted runs are merged in one pass by this kind of sort.
            merged = np.sort(np.concatenate([self._arrays.pop(), merged]), kind="stable")
        if len(merged):
            self._arrays.append(merged)
        return new


def embed_part(job: EmbedJob) -> int:
    """Embed what a part lacks; return the number of vectors made.

    Raises
    ------
    EmbeddingsFailed
        The encoder, or its service, failed.
    """
    settings: Any = dict(job.settings)
    embedder = make_embedder(load_settings(**{name: to for name, to in settings.items() if to}))
    if embedder is None:
        raise EmbeddingsFailed("EMBEDDINGS_PROVIDER=none.")
    wanted = set(job.keys)
    titles = {
        row["position"]: row["title"] or ""
        for row in read_rows_at(Path(job.records), job.positions, ("position", "title"))
    }
    texts: dict[int, str] = {}
    columns = ("position", "section", "text", "digest")
    for row in read_passages_at(Path(job.passages), job.positions, columns):
        if (key := make_key(row["digest"])) in wanted:
            title = titles[row["position"]]
            texts.setdefault(key, build_embedding_text(title, row["section"], row["text"]))
    keys, words = np.array(list(texts), np.int64), list(texts.values())
    blocks = [
        pack_vectors(keys[at : at + _BATCH], embedder.embed_texts(words[at : at + _BATCH]))
        for at in range(0, len(words), _BATCH)
    ]
    if blocks:
        VectorStore(Path(job.store)).write_chunk(job.name, np.concatenate(blocks))
    return len(words)


def _read_published_rows(number: int, path: Path, wanted: Keys) -> Iterator[tuple[int, Any]]:
    """Yield rows of a published chunk whose texts are wanted, in batches."""
    try:
        vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:  # its own message advises to load pickles, which may run code
        raise _to_incomplete_error(path, "the vectors are not an array of numbers") from error
    except OSError as error:
        raise _to_incomplete_error(path, str(error)) from error
    try:
        pmids = json.loads((path.parent / f"pmids_chunk_{number}.json").read_bytes())
        papers = json.loads((path.parent / f"pubmed_chunk_{number}.json").read_bytes())
    except (OSError, ValueError) as error:
        raise _to_incomplete_error(path, str(error)) from error
    if vectors.ndim != 2 or len(vectors) != len(pmids):
        raise _to_incomplete_error(path, f"{len(pmids):,} PMIDs, vectors of shape {vectors.shape}")
    for at in range(0, len(pmids), _ROWS):
        texts = [papers.get(str(pmid)) or {} for pmid in pmids[at : at + _ROWS]]
        keys = np.array([_to_published_key(one) for one in texts], np.int64)
        mine = np.isin(keys, wanted)
        if mine.any():
            some = np.asarray(vectors[at : at + _ROWS][mine], np.float32)
            norms = np.maximum(np.linalg.norm(some, axis=1, keepdims=True), 1e-12)
            yield at, pack_vectors(keys[mine], some / norms)


def _to_published_key(paper: dict[str, str]) -> int:
    """Return the key of a paper's one passage, from title and abstract; 0 without abstract."""
    title, abstract = paper.get("t", ""), paper.get("a", "")
    if not (title and abstract):
        return 0
    text = build_embedding_text(title, "Abstract", abstract)
    return make_key(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())


def _to_incomplete_error(path: Path, why: str) -> BadContent:
    return BadContent(f"{path.name} and its files are incomplete: {why}.", verdict="broken")


def _read_keys(part: Path, positions: Any = None) -> Keys:
    """Return the keys (`.passages.make_key`) of all passages, or of those of some records."""
    from pyarrow import parquet

    with parquet.ParquetFile(part) as file:
        table = file.read(["position", "digest"])
    if positions is not None:
        table = table.filter(np.isin(table["position"].to_numpy(), positions))
    whole = b"".join(table["digest"].to_pylist())
    return np.frombuffer(whole, "<i8").reshape(-1, 4)[:, 0].copy()
