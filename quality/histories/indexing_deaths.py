"""Indexing, killed again and again.

``python -m quality.histories.indexing_deaths FOLDER SEED KILLS``.

Between two deaths papers come, change, are retracted and vanish. Every child dies before or after a
commit or a change of the finder drawn by lot, or at any instant at all (``kill -9`` from outside).
After every few deaths one run is spared, and everything must be whole.
"""

import json
import os
import random
import signal
import sys
import threading
from pathlib import Path

from sqlalchemy import event

from tests.corpus.small_corpus import corpus_in, paper
from tests.corpus.test_index import Model, body, check_whole, record, with_model
from tests.killed import Fate
from tests.shelf.papers import save
from utils.corpus import Corpus
from utils.model.identifiers import Ids
from utils.model.paper import Notice

_STEPS, _MOST_S = 40, 0.4
_WORDS = ("eel", "coral", "sponge", "whelk", "shrimp")


def opened(folder: Path) -> Corpus:
    return with_model(corpus_in(folder / "papers"), Model())


def live(folder: Path, chance: random.Random) -> None:
    """What happens to a corpus meanwhile."""
    corpus = opened(folder)
    for _ in range(chance.randrange(1, 6)):
        pmid, word = str(chance.randrange(1, 40)), chance.choice(_WORDS)
        stored = corpus.shelf.find_text(Ids(pmid=pmid))
        if stored and chance.random() < 0.5:
            Path(stored.path).unlink()
        elif chance.random() < 0.4:
            save(corpus.shelf, paper(pmid), body(word, chance.randrange(5, 90)))
        else:
            notices = (Notice("retraction"),) if chance.random() < 0.2 else ()
            words = f"The {word} of {pmid} lives {chance.randrange(1000)} years."
            revised = f"2025-01-{chance.randrange(1, 29):02}"
            corpus.database.store_records([record(pmid, words, notices=notices, revised=revised)])
    close(corpus)


def close(corpus: Corpus) -> None:
    corpus.finder.close()
    corpus.database.close()
    corpus.shelf.close()


def child(folder: Path, at: int, seconds: float) -> int:
    """Index in a process that dies at a step, or after so many seconds; how it ended."""
    pid = os.fork()
    if pid:
        if seconds:
            threading.Event().wait(seconds)
            os.kill(pid, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    try:
        corpus = opened(folder)
        if at:
            fate = Fate(at)
            event.listen(corpus.database.engine, "commit", lambda _: fate.step())
            event.listen(corpus.database.engine, "checkin", lambda *_: fate.step())
            for name in ("store_passages", "delete_passages", "prepare_for_model"):
                fate.around(corpus.finder, name)
        list(corpus.index())
        os._exit(0)
    finally:
        os._exit(1)


def main() -> None:
    """Kill so many, and say how it went in JSON."""
    folder, seed, kills = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    deaths = spared = 0
    while deaths < kills:
        live(folder, chance)
        outside = chance.random() < 0.3
        seconds = _MOST_S * chance.random() if outside else 0.0
        status = child(folder, 0 if outside else round(_STEPS ** chance.random()), seconds)
        assert status in {0, -signal.SIGKILL}, status
        deaths += status != 0
        if status == 0 or chance.random() < 0.3:
            assert child(folder, 0, 0.0) == 0
            corpus = opened(folder)
            check_whole(corpus)
            close(corpus)
            spared += 1
    sys.stdout.write(json.dumps({"deaths": deaths, "whole": spared}))


if __name__ == "__main__":
    main()
