r"""Expansion: authors' own commands replaced, conditionals decided.

Papers define their own commands by the hundred, and a formula in which ``\R^n`` is not spelled out
means nothing to anyone else. Only what papers use is followed: ``\newcommand`` and its kin,
``\def`` with plain parameters, ``\let``, ``\newif``, ``\ifx``; other tests count as failed. What
all expansions may write together is bounded, so that no definition, however it calls itself, costs
more than a long paper.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from .tokens import PARAGRAPH, TokenStream, joined

_SPARE: Final = 500_000  # characters that expansions may write, however short the paper
_GROWTH: Final = 6  # and for each of the paper's own
_FRUITLESS: Final = 1000  # expansions in a row that write nothing
_DEFINERS: Final = frozenset(
    ("\\newcommand", "\\renewcommand", "\\providecommand", "\\DeclareRobustCommand")
)
_SPEC_DEFINERS: Final = frozenset(
    rf"\{name}DocumentCommand" for name in ("New", "Renew", "Provide", "Declare")
)
_DEFS: Final = frozenset(("\\def", "\\gdef", "\\edef", "\\xdef"))
_ENVIRONMENTS: Final = frozenset(("\\newenvironment", "\\renewenvironment"))
_OPERATORS: Final = frozenset(("\\DeclareMathOperator", "\\DeclareRobustMathOperator"))
_NO_TESTS: Final = frozenset(("\\iff", "\\ifthenelse", "\\ifstrequal", "\\ifblank"))
_NOTHING: Final = frozenset(
    rf"\{name}"
    for name in (
        *("relax", "protect", "global", "long", "outer", "expandafter", "noexpand", "unexpanded"),
        *("leavevmode", "makeatletter", "makeatother", "ignorespaces", "unskip"),
        *("fi", "csname", "endcsname", "null", "ExplSyntaxOn", "ExplSyntaxOff"),
    )
)
_INTERNAL: Final = re.compile(r"\\(?:@(?:ifnextchar|ifstar|ifundefined|for|tempcnta)|futurelet)")
# What a package's command does beyond setting words.
_MACHINERY: Final = frozenset(
    rf"\{name}"
    for name in (
        *("hbox", "vbox", "vskip", "hskip", "hrule", "vrule", "advance", "dimen", "special", "box"),
        *("setbox", "setlength", "addtolength", "begingroup", "futurelet", "newpage", "kern"),
        *("vspace", "hspace", "thispagestyle", "write", "openin", "read", "relax", "penalty"),
    )
)
_DOCUMENT: Final = ["\\begin", "{", "document", "}"]
_DIGITS: Final = "123456789"
_WORD: Final = re.compile(r"(\\[A-Za-z@]+) ?")
_LONGEST_WORD: Final = 200  # characters of a command's body in an address
_NESTED_WORDS: Final = 3


def _is_machinery(body: list[str]) -> bool:
    return any(lexeme in _MACHINERY or (lexeme[0] == "\\" and "@" in lexeme) for lexeme in body)


def _label_in(body: list[str]) -> list[str]:
    """The label that a definition sets, among things only TeX understands."""
    at = body.index("\\label")
    end = next((n for n in range(at, len(body)) if body[n] == "}"), at)
    return body[at : end + 1]


class Macro(NamedTuple):
    """A command's replacement; ``default`` is the value of a first argument in brackets."""

    arity: int
    default: list[str] | None
    body: list[str]
    size: int
    sized: bool = False  # a star or an option before its arguments says how large its brackets are

    @classmethod
    def of(cls, arity: int, default: list[str] | None, body: list[str]) -> Macro:
        """With the number of its characters."""
        return cls(arity, default, body, sum(map(len, body)))


class ExpandedStream(TokenStream):
    """Tokens after expansion; all that expansions write together is bounded.

    Parameters
    ----------
    text : str
        The main file.
    size : int
        Characters of all the files.
    is_reserved : Callable[[str], bool]
        Whether no definition may change a command, since the reader knows its meaning.
    """

    def __init__(self, text: str, size: int, is_reserved: Callable[[str], bool]) -> None:
        super().__init__(text)
        self.macros: dict[str, Macro] = {}
        self.environments: dict[str, tuple[Macro, list[str]]] = {}
        self.left = _SPARE + _GROWTH * size
        self.in_math = False
        self._conditionals_end = True
        self._learning = 0
        self._is_reserved = is_reserved

    def take_expanded(self) -> str:
        """The next lexeme that stands for itself; empty at the end."""
        fruitless = 0
        while lexeme := self.take():
            if lexeme[0] != "\\":
                return lexeme
            if (macro := self.macros.get(lexeme)) is not None:
                fruitless += 1
                if fruitless > _FRUITLESS:  # two that call each other
                    del self.macros[lexeme]
                else:
                    self._expand(macro)
            elif lexeme.startswith("\\if") and lexeme not in _NO_TESTS:
                self._decide_conditional(lexeme)
            elif lexeme == "\\else":
                self._skip_branch(stop_at_else=False)
            elif lexeme == "\\xspace":
                if self._wants_blank():
                    return " "
            elif lexeme not in _NOTHING and not self.take_definition(lexeme):
                return lexeme
        return ""

    @contextmanager
    def definitions_of(self, text: str) -> Iterator[None]:
        """Read a package meanwhile: its definitions count unless they need TeX's machinery."""
        self._learning += 1
        try:
            with self.apart(text):
                yield
        finally:
            self._learning -= 1

    def spelled_out(self, address: str) -> str:
        """An address, the paper's own commands in it replaced by their words."""
        for _ in range(_NESTED_WORDS):
            spelled = _WORD.sub(self._replacement, address)
            if spelled == address or not self.spend(len(spelled)):
                break
            address = spelled
        return address

    def _replacement(self, command: re.Match[str]) -> str:
        macro = self.macros.get(command[1])
        plain = macro is not None and not macro.arity and macro.size <= _LONGEST_WORD
        return joined(macro.body) if macro is not None and plain else command[0]

    def _wants_blank(self) -> bool:
        r"""Whether ``\xspace`` sets one: TeX itself drops the blank behind a command."""
        following = self.take()
        self.put_back_one(following)
        opens = following[:1].isalnum() or following[:1] in ("(", "$")
        commands = following[:1] == "\\" and following[1:2].isalpha()
        return not self.in_math and (opens or commands) and not following.startswith("\\footnote")

    def spend(self, size: int) -> bool:
        """Whether *size* more characters may be written."""
        self.left -= size
        return self.left > 0

    # --- expansion ------------------------------------------------------------------------------

    def _expand(self, macro: Macro) -> None:
        self.put_back_expansion(self.substitute(macro))

    def put_back_expansion(self, tokens: list[str]) -> None:
        """Have what an expansion wrote read next, unless the bound is reached."""
        if self.spend(sum(map(len, tokens)) + 1):
            self.put_back(tokens)

    def substitute(self, macro: Macro) -> list[str]:
        """Take the macro's arguments, and put them into its body."""
        if not macro.arity:
            return macro.body
        arguments: list[list[str]] = []
        if macro.sized:
            self.take_star()
            self.take_option()
        if macro.default is not None:
            option = self.take_option()
            arguments.append(macro.default if option is None else option)
        while len(arguments) < macro.arity:
            arguments.append(self.take_argument(long=True))
        sizes = [sum(map(len, argument)) for argument in arguments]
        made: list[str] = []
        left = self.left - macro.size
        after_hash = False
        for lexeme in macro.body:
            if after_hash:
                after_hash = False
                at = _DIGITS.find(lexeme[0])
                if 0 <= at < len(arguments) and left > sizes[at]:
                    made += arguments[at]
                    left -= sizes[at]
                made += [lexeme[1:]] if lexeme[1:] else []
            elif lexeme == "#":
                after_hash = True
            else:
                made.append(lexeme)
        return made

    # --- conditionals ---------------------------------------------------------------------------

    def _decide_conditional(self, lexeme: str) -> None:
        if lexeme == "\\ifx":
            first, second = self.take(), self.take()
            true = self.macros.get(first, first) == self.macros.get(second, second)
        else:
            true = lexeme == "\\iftrue" or (lexeme == "\\ifmmode" and self.in_math)
        if not true:
            self._skip_branch(stop_at_else=True)

    def _skip_branch(self, *, stop_at_else: bool) -> None:
        """Skip the branch that is not taken; it cannot hold the beginning of the text.

        One that nothing ends was begun by a command this reader does not know, and is text.
        """
        depth = 0
        skipped: list[str] = []
        while self._conditionals_end and (lexeme := self.take()):
            skipped.append(lexeme)
            if lexeme.startswith("\\if") and lexeme not in _NO_TESTS:
                depth += 1
            elif lexeme == "\\fi":
                if not depth:
                    return
                depth -= 1
            elif lexeme == "\\else" and stop_at_else and not depth:
                return
            elif skipped[-4:] == _DOCUMENT:
                self.put_back(_DOCUMENT)
                return
        self._conditionals_end = False
        self.put_back(skipped)

    # --- definitions ----------------------------------------------------------------------------

    def take_definition(self, lexeme: str) -> bool:
        """Store the definition that *lexeme* begins; whether it begins one."""
        if lexeme in _DEFINERS:
            self._define_command()
        elif lexeme in _DEFS:
            self._define_plain()
        elif lexeme in _OPERATORS:
            head = ["\\operatorname", "*"] if self.take_star() else ["\\operatorname"]
            name, text = self._take_name(), self.take_argument()
            self._store(name, Macro.of(0, None, [*head, "{", *text, "}"]))
        elif lexeme in _SPEC_DEFINERS:
            name, spec, body = self._take_name(), self.take_text(), self.take_argument(long=True)
            default: list[str] | None = [] if spec.startswith(("o", "O")) else None
            self._store(name, Macro.of(len(re.findall("[moO]", spec)), default, body))
        elif lexeme.startswith("\\DeclarePairedDelimiter"):
            self._define_delimiters(lexeme)
        elif lexeme == "\\DeclareSIUnit":
            self.take_option()
            self._store(self._take_name(), Macro.of(0, None, self.take_argument()))
        elif lexeme in _ENVIRONMENTS:
            self._define_environment()
        elif lexeme == "\\let":
            self._define_alias()
        elif lexeme == "\\newif":
            self._define_conditional()
        else:
            return False
        return True

    def _define_delimiters(self, lexeme: str) -> None:
        r"""``\DeclarePairedDelimiter`` of mathtools, ``X`` and ``XPP`` with bodies of their own."""
        extended = lexeme.endswith("XPP")
        name = self._take_name()
        arity = self._take_signature()[0] or 1
        before = self.take_argument(long=True) if extended else []
        left, right = self.take_argument(), self.take_argument()
        after = self.take_argument(long=True) if extended else []
        inner = self.take_argument(long=True) if "X" in lexeme else ["#", "1"]
        inner = [lexeme for lexeme in inner if lexeme != "\\delimsize"]
        body = [*before, "\\left", *left, *inner, "\\right", *right, *after]
        self._store(name, Macro.of(arity, None, body)._replace(sized=True))

    def _define_command(self) -> None:
        self.take_star()
        name, (count, default) = self._take_name(), self._take_signature()
        self._store(name, Macro.of(count, default, self.take_argument(long=True)))

    def _take_signature(self) -> tuple[int, list[str] | None]:
        number = joined(self.take_option() or []).strip()
        count = int(number) if number in _DIGITS and number else 0
        return count, self.take_option() if count else None

    def _define_environment(self) -> None:
        self.take_star()
        name, (count, default) = self.take_text(), self._take_signature()
        begin, end = self.take_argument(long=True), self.take_argument(long=True)
        if self._learning and _is_machinery([*begin, *end]):
            return
        self.environments[name] = (Macro.of(count, default, begin), end)

    def _define_plain(self) -> None:
        name = self.take()
        parameters: list[str] = []
        while (lexeme := self.take()) not in ("{", "", PARAGRAPH):
            parameters.append(lexeme)
        body = self.take_group(long=True) if lexeme == "{" else []
        pattern = "".join(parameters).strip()
        if re.fullmatch(r"(?:#[1-9])*", pattern):
            self._store(name, Macro.of(len(pattern) // 2, None, body))

    def _define_alias(self) -> None:
        name = self.peek() and self.take()
        if self.peek() == "=":
            self.take()
        other = self.peek() and self.take()
        if name[:1] == "\\" and other and other != name:
            self._store(name, self.macros.get(other) or Macro.of(0, None, [other]))

    def _define_conditional(self) -> None:
        name = self.take().removeprefix("\\if")
        test = f"\\if{name}"
        self.macros[test] = Macro.of(0, None, ["\\iffalse"])
        for word in ("true", "false"):
            body = ["\\let", test, f"\\if{word}"]
            self.macros[f"\\{name}{word}"] = Macro.of(0, None, body)

    def _take_name(self) -> str:
        """Take the command being defined, with or without braces around it."""
        return "".join(self.take_argument()).strip()

    def _store(self, name: str, macro: Macro) -> None:
        """Keep a definition, unless it would hide a part of the paper or needs TeX's internals."""
        cites = len(macro.body) == 1 and macro.body[0].startswith("\\cite")
        refers = name != "\\ref" and name.endswith("ref") and "\\ref" in macro.body
        if name[:1] != "\\" or (self._is_reserved(name) and not cites and not refers):
            return
        # What calls itself never ends here, where tests count as failed.
        internal = any(map(_INTERNAL.match, macro.body)) or name in macro.body
        if internal and "\\label" in macro.body and name not in macro.body:
            macro = macro._replace(body=_label_in(macro.body))
        elif internal or (self._learning and _is_machinery(macro.body)):
            self.macros.pop(name, None)
            return
        self.macros[name] = macro
