"""The documentation says what the code does, in plain sentences."""

import re
import shlex
from pathlib import Path

import pytest

from docs.manual import manual_page
from docs.reference import COMMAND, FILES, MANUAL, PAGE, technical_reference
from utils.cli.command_list import list_commands, split_command_name
from utils.cli.commands import parse_command

ROOT = Path(__file__).resolve().parents[1]
WRITTEN = ("tutorials", "how-to", "explanation")  # others are made when the site is built
PAGES = [ROOT / "docs/pages/index.md", *sorted(ROOT.glob("*.md"))]
PAGES += sorted((ROOT / "quality").glob("*/README.md"))
PAGES += sorted(page for part in WRITTEN for page in (ROOT / "docs/pages" / part).glob("*.md"))
MOST_WORDS = 30
REJECTED = re.compile(
    r"\b(anew|whoever|nobody|somebody|at the most|stands? (?:in|there|once)|heed|fate|told"
    r"|is no|are none)\b",
    re.I,
)


def commands(text: str) -> list[str]:
    """Return the lines of code blocks that begin with our command, without comments and pipes."""
    blocks = re.findall(r"^ *```(?:bash|text)\n(.*?)^ *```", text, re.S | re.M)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    parts = (part.split("#")[0].split(">")[0].strip() for line in lines for part in line.split("|"))
    return [part for part in parts if part.startswith("papershelf ")]


def sentences(text: str) -> list[str]:
    """Return the sentences of a page outside code, tables and headings."""
    text = re.sub(r"^ *```.*?^ *```", "", text, flags=re.S | re.M)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "CODE", text))
    lines = (line for line in text.splitlines() if not re.match(r" *(\||#|<!--)", line))
    starts = r"\n(?= *(?:[-*]|\d+\.) )"
    return [
        sentence
        for block in "\n".join(lines).split("\n\n")
        for item in re.split(starts, block)
        for sentence in re.split(r"(?<=[.!?:])\s+", " ".join(item.split()))
        if sentence
    ]


def test_the_reference_is_the_one_that_the_code_makes():
    page = PAGE.read_text(encoding="utf-8")
    assert technical_reference() == page, f"run: {COMMAND}"
    assert len(page.encode()) <= 40_000


@pytest.mark.parametrize("page", PAGES, ids=lambda page: "/".join(page.parts[-2:]))
def test_its_commands_are_commands(page):
    for command in commands(page.read_text(encoding="utf-8")):
        words = shlex.split(command)[1:]
        parse_command(words)
        assert words[0] in split_command_name(words)[0], f"a former name: {command}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: "/".join(page.parts[-2:]))
def test_it_is_written_in_plain_sentences(page):
    said = sentences(page.read_text(encoding="utf-8"))
    assert [one for one in said if len(one.split()) > MOST_WORDS] == []
    assert [one for one in said if REJECTED.search(one)] == []


def test_a_long_sentence_and_a_wrong_command_are_found():
    page = f"# Head\n\n```bash\npapershelf downlod 1\n```\n\n- {'word ' * 31}end. Short.\n"
    assert commands(page) == ["papershelf downlod 1"]
    assert [len(one.split()) for one in sentences(page)] == [33, 1]


def test_what_a_harvest_leaves_on_the_shelf_is_documented(library):
    for _ in library.harvest(["31452104", "10.1371/journal.pone.0111303"]):
        pass
    text = " ".join(FILES)
    folder = library.settings.papers_dir
    private = (folder / ".papershelf").iterdir()
    texts = (".txt", ".db-wal", ".db-shm")
    named = [one.name for one in [*folder.iterdir(), *private] if one.suffix not in texts]
    assert [name for name in named if name not in text] == []


def test_the_man_page_is_up_to_date():
    assert MANUAL.read_text(encoding="utf-8") == manual_page(), f"Type: {COMMAND}"


def test_the_man_page_has_every_command_and_nothing_that_groff_would_misread():
    page = manual_page()
    lines = page.splitlines()
    assert page.isascii()
    assert {line.removeprefix(".SS ") for line in lines if line.startswith(".SS ")} == {
        name.replace("-", "\\-") for name in list_commands()
    }
    requests = {line.split()[0] for line in lines if line.startswith((".", "'"))}
    assert requests <= {".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".nf", ".fi", ".RS", ".RE"}
    assert "server.py" not in page
