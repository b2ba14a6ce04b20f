"""The shell's commands in the stand-in internet."""

import pytest

from utils import cli


@pytest.fixture
def shell(settings, monkeypatch, capsys):
    """Return a function that runs a command by its words: exit status, answers and remarks."""
    for name, value in settings.items():
        monkeypatch.setenv(name.upper(), str(value))

    def run(*words):
        status = cli.main([str(word) for word in words])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run
