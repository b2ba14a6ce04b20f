r"""Expanded tokens into paragraphs and blocks of markdown.

Groups and environments are kept on a stack of scopes instead of Python's, so that no source nests
deeper than it may. What needs a piece of text before it goes on (a heading, a caption, a cell's
note) has the piece read apart, by `Walk.line`, a bounded number of levels deep.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ..jats.text import escape, guard_start, tidy
from .macros import ExpandedStream
from .numbers import Bibliography, Label, Numbers
from .quantities import QUANTITIES
from .signs import (
    ACCENTS,
    BETWEEN,
    CELL,
    EMPHASIS,
    LAYOUT,
    REFERRED,
    REFERS,
    SIGNS,
    STYLED,
    SWITCHES,
    accented,
    typeset,
    with_emphasis,
)
from .tokens import joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .submission import Submission

_DEEPEST: Final = 8  # texts read apart inside each other
_MOST_SCOPES: Final = 300
_LONGEST_PATTERN: Final = 200  # characters of what writes a counter
_MOST_COLLECTING: Final = 40  # environments in each other that collect their blocks
_INSERTED: Final = 4  # times the size of all files, by files that read others in

Command = Callable[["Walk"], None]
Environment = Callable[["Walk", str], None]


@dataclass(slots=True)
class Scope:
    """A group or environment that is open.

    ``then`` gets its blocks when it ends; without, they are the outer one's. ``mark`` is written
    at its end. ``kind`` tells commands inside where they are; ``collects``, whether its blocks are
    kept apart, as they are not in the depth that only attacks reach; ``number`` is a table's number
    set by the paper.
    """

    ends: str
    kind: str = ""
    then: Callable[[list[str]], None] | None = None
    mark: str = ""
    blocks: list[str] = field(default_factory=list)
    collects: bool = False
    number: str = ""
    current: Label = field(default_factory=lambda: Label("", ""))


@dataclass(slots=True)
class Front:
    """Title, authors, abstract, keywords and DOI, and where the reading of them stands."""

    title: str = ""
    authors: list[str] = field(default_factory=list)
    abstract: list[str] = field(default_factory=list)
    keywords: str = ""
    doi: str = ""
    addresses_at: tuple[list[str], int] | None = None  # blocks, and where in them the authors begin
    is_opening: bool = True  # until there is a title or a heading, a title page may be set by hand


class Walk:
    """One walk through a paper's source.

    Parameters
    ----------
    submission : Submission
        The files; the walk begins in the main one.
    commands, environments : dict
        What is done at each; `.commands` and `.environments` have them.
    """

    def __init__(
        self,
        submission: Submission,
        commands: dict[str, Command],
        environments: dict[str, Environment],
        theorems: dict[str, str],
    ) -> None:
        self.submission = submission
        self.commands, self.environments = commands, environments
        size = sum(map(len, submission.files.values()))
        # Papers that define \num or \unit themselves mean something else than siunitx.
        reserved = {*commands, *LAYOUT, *STYLED, *SWITCHES, *EMPHASIS} - QUANTITIES.keys()
        main = submission.files[submission.main]
        self.stream = ExpandedStream(main, size, lambda name: name[1:] in reserved)
        self._to_insert = _INSERTED * size
        self.bibliography = Bibliography()
        self.numbers = Numbers(self._own_pattern)
        self.front = Front()
        self.blocks: list[str] = []
        self.words: list[str] = []
        self.lead = ""
        self.scopes: list[Scope] = []
        self.theorems = {name: (name, title) for name, title in theorems.items()}
        self.notes: list[str] = []
        self.note_count = 0
        self.cited: dict[str, None] = {}
        self.folder = submission.main.rpartition("/")[0]
        self.has_chapters = self.in_document = self.in_appendix = False
        self.missing_file = ""  # the first file read in that is not in the archive
        self.in_abstract = False
        self.packages_begun: set[str] = set()  # and how many of them are read to their end
        self.packages_done = 0
        self.deluxe_head: list[str] = []  # of the table begun
        self.incomplete = False  # files read each other in beyond all bounds
        self._depth = self._collecting = 0
        self._floor = 0  # scopes below it are out of reach for what is read apart
        self._open: dict[str, int] = {}

    def _own_pattern(self, name: str) -> str:
        macro = self.stream.macros.get(name)
        if macro is None or macro.arity or macro.size > _LONGEST_PATTERN:
            return ""
        return joined(macro.body)

    # --- reading --------------------------------------------------------------------------------

    def run(self) -> None:
        """Read to the end, and end what is open there."""
        floor, self._floor = self._floor, len(self.scopes)
        while lexeme := self.stream.take_expanded():
            self._do(lexeme)
        while len(self.scopes) > self._floor:
            self.close()
        self._floor = floor
        self.end_paragraph()

    def begin_document(self) -> None:
        """Forget what was written so far: definitions and the title stay."""
        if not self.in_document:
            while len(self.scopes) > self._floor:
                self.close()
            self.in_document = True
            self.blocks.clear()
            self.words.clear()
            self.notes.clear()
            self.lead = ""

    def end_document(self) -> None:
        """Write no more: what stands behind it is not printed."""
        while len(self.scopes) > self._floor:
            self.close()
        self.end_paragraph()
        self.stream.finish()

    def insert(self, file: str) -> None:
        """Read a file of the submission before going on."""
        text = self.submission.files[file]
        self._to_insert -= len(text) + 1
        if self._to_insert < 0 or not self.stream.insert(text):
            self.incomplete = True

    def _do(self, lexeme: str) -> None:
        if lexeme[0] == "\\" and len(lexeme) > 1:
            self._command(lexeme[1:])
        elif lexeme == "{":
            self.open(Scope("}"))
        elif lexeme == "}":
            if self._in_braces():
                is_argument = self.scopes[-1].kind == "argument"
                self.close()
                if is_argument:
                    self._begin_argument(after_another=True)
        elif lexeme == "$":
            self.commands["math shift"](self)
        elif lexeme == "&":
            self.words.append(CELL)
        elif lexeme not in ("#", "\\"):
            self.words.append(" " if lexeme == "~" else escape(typeset(lexeme)))

    def _command(self, name: str) -> None:
        if (command := self.commands.get(name)) is not None:
            command(self)
        elif (sign := SIGNS.get(name)) is not None:
            self.words.append(sign)
        elif name in ACCENTS:
            letters = self.line(self.stream.take_argument())
            self.words.append(accented(letters, ACCENTS[name]))
        elif name in SWITCHES:
            self._switch(*SWITCHES[name])
        elif name in EMPHASIS:
            self._emphasize(*EMPHASIS[name])
        elif name.isalpha() or "@" in name:
            self.skip(LAYOUT.get(name, STYLED.get(name, "o")), star=name in LAYOUT)
            if name not in LAYOUT and name not in STYLED:
                self._begin_argument()

    def skip(self, spec: str, *, star: bool = False) -> None:
        """Skip a *star* and arguments: ``o`` is an option in brackets, ``m`` one in braces."""
        if star:
            self.stream.take_star()
        for kind in spec:
            if kind == "o":
                self.stream.take_option()
            else:
                self.stream.take_argument(long=True)

    def _begin_argument(self, *, after_another: bool = False) -> None:
        """Keep an argument of a command nobody knows apart from another, or a number, before it."""
        following = self.stream.take()
        if following != "{" or not self.open(Scope("}", "argument")):
            self.stream.put_back_one(following)
            return
        first = self.stream.take()
        self.stream.put_back_one(first)
        after_number = first[:1].isdigit() and "".join(self.words[-1:])[-1:].isdigit()
        if after_another or after_number:
            self.words.append(" ")

    def _switch(self, on: str, off: str) -> None:
        if self._in_braces():
            self.words.append(on)
            self.scopes[-1].mark = off + self.scopes[-1].mark

    def _emphasize(self, on: str, off: str) -> None:
        if self.stream.peek() == "{":
            self.stream.take()
            self.open(Scope("}", mark=off))
            self.words.append(on)
        else:
            self.words.append(f"{on}{self.line(self.stream.take_argument())}{off}")

    def line(self, source: str | list[str]) -> str:
        """A piece of source as one line of markdown."""
        with self.apart(source) as blocks:
            pass
        return tidy(" ".join(blocks))

    def take_line(self) -> str:
        """The next argument, which may have paragraphs, as one line of markdown."""
        return self.line(self.stream.take_argument(long=True))

    @contextmanager
    def apart(self, source: str | list[str]) -> Iterator[list[str]]:
        """The blocks of a piece of source, read by itself."""
        outer = self.blocks, self.words, self.lead
        made: list[str] = []
        self.blocks, self.words, self.lead = made, [], ""
        self._depth += 1
        try:
            if self._depth <= _DEEPEST:
                with self.stream.apart(source):
                    self.run()
            yield made
        finally:
            self._depth -= 1
            self.blocks, self.words, self.lead = outer

    # --- scopes ---------------------------------------------------------------------------------

    def open(self, scope: Scope) -> bool:
        """Begin a group or environment; not in a depth that only attacks reach."""
        if len(self.scopes) >= _MOST_SCOPES:
            return False
        scope.current = self.numbers.current
        self._open[scope.ends] = self._open.get(scope.ends, 0) + 1
        if scope.then is not None:
            self.end_paragraph()
            self._collecting += 1
            scope.collects = self._collecting <= _MOST_COLLECTING
            if scope.collects:
                scope.blocks, self.blocks = self.blocks, scope.blocks
        self.scopes.append(scope)
        return True

    def close(self) -> None:
        """End the innermost group or environment."""
        scope = self.scopes.pop()
        self._open[scope.ends] -= 1
        if scope.mark:
            self.words.append(scope.mark)
        if scope.then is not None:
            self.end_paragraph()
            self._collecting -= 1
            blocks: list[str] = []
            if scope.collects:
                blocks, self.blocks = self.blocks, scope.blocks
            scope.then(blocks)
            self._put_notes()
        if scope.ends != "}":
            self.numbers.current = scope.current

    def close_environment(self, name: str) -> bool:
        """End the innermost environment of that name, if one is open."""
        if not self._open.get(name) or all(s.ends != name for s in self.scopes[self._floor :]):
            return False
        while self.scopes[-1].ends != name:
            self.close()
        self.close()
        return True

    def _in_braces(self) -> bool:
        return len(self.scopes) > self._floor and self.scopes[-1].ends == "}"

    def is_inside(self, kind: str) -> bool:
        """Whether the innermost environment is of that kind."""
        return next((s.kind == kind for s in reversed(self.scopes) if s.ends != "}"), False)

    # --- writing --------------------------------------------------------------------------------

    def write(self, text: str) -> None:
        """Put markdown into the line."""
        self.words.append(text)

    def refer(self, kind: str, *parts: str) -> None:
        """Leave a place for what is known at the end of the paper, see `.references`."""
        self.words.append(f"{REFERS}{BETWEEN.join((kind, *parts))}{REFERRED}")

    def end_paragraph(self) -> None:
        """Make a block of the words so far."""
        text = tidy(with_emphasis("".join(self.words)))
        self.words.clear()
        if text or self.lead:
            text = f"{self.lead}{text}" if self.lead else guard_start(text)
            self.lead = ""
            self.blocks.append(text.rstrip())
        self._put_notes()

    def add(self, block: str) -> None:
        """Put a block behind the words so far."""
        self.end_paragraph()
        if block:
            self.blocks.append(block)

    def add_all(self, blocks: list[str]) -> None:
        """Put blocks behind the words so far."""
        for block in blocks:
            self.add(block)

    def _put_notes(self) -> None:
        """Put footnotes behind the outermost block they were met in."""
        if self._depth or any(scope.then is not None for scope in self.scopes):
            return
        self.blocks += self.notes
        self.notes = []
