"""Several sources at once in the shell: who does not answer is named, and holds nobody up."""

import threading
from dataclasses import replace

import pytest

from utils import cli, sources
from utils.http import work


@pytest.fixture
def silent_arxiv(settings, monkeypatch):
    """An arXiv that never answers; what is waited for it, in seconds."""
    for name, value in settings.items():
        monkeypatch.setenv(name.upper(), str(value))
    gate, waits = threading.Event(), []

    def search(_query, _web):
        gate.wait(60)
        raise AssertionError("The test is over.")

    every = [replace(one, search=search) if one.name == "arxiv" else one for one in sources.SOURCES]
    monkeypatch.setattr(sources, "SOURCES", tuple(every))
    wait = work.wait_for

    def wait_for_the_others(futures, longest):
        waits.append(longest)
        wait([one for at, one in enumerate(futures) if at != 2])  # arXiv is the third of four

    monkeypatch.setattr(work, "wait_for", wait_for_the_others)
    yield waits
    gate.set()


def test_a_silent_source_is_named_and_the_others_are_shown(silent_arxiv, capsys):
    assert cli.main(["search", "coral", "--source", "all"]) == 0
    said = capsys.readouterr()
    assert silent_arxiv == [14.0]
    assert "from pubmed" in said.out
    assert "arxiv: slow." in said.err
    assert "what it has is missing here" in said.err
    assert "--wait 90" in said.err


def test_who_has_time_waits_longer(silent_arxiv, capsys):
    assert cli.main(["search", "coral", "--source", "all", "--wait", "90"]) == 0
    assert silent_arxiv == [90.0]
    said = capsys.readouterr()
    assert "arxiv: slow." in said.err
    assert "--wait" not in said.err
