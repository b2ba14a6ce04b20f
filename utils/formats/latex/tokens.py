r"""TeX's tokens, and the arguments that commands take from them.

A token is a string: a command with its backslash (``\alpha``), a run of letters, a single sign, a
blank, or `PARAGRAPH` for an empty line. Text is cut into tokens only when it is read, since
``\verb`` and its kin want it uncut. ``@`` counts as a letter: names inside packages have it, and
no paper's text has one right behind a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

PARAGRAPH: Final = "\\par"
_TOKEN: Final = re.compile(
    r"(?P<word>\\[A-Za-z@]+)(?:[ \t]*\n(?![ \t]*\n)[ \t]*|[ \t]+)?"
    r"|(?P<comment>%[^\n]*(?:\n(?![ \t]*\n)[ \t]*)?)"
    r"|(?P<blank>[ \t\n\f\v]+)"
    r"|(?P<text>[^\\{}$&#^_~%\[\]*\s]+|\\.|\s|.)",
    re.S,
)
_ADDRESS: Final = re.compile(r"\s{0,99}\{([^{}]{0,3000})\}")
_LINE_END: Final = re.compile(r"%?\s*\n\s*")
_OPTION_TOKENS: Final = 2000  # of a [...]; without an end so far, it is a bracket
_OPTION_TOKENS_LATER: Final = 20
_IN_VAIN: Final = 20_000  # tokens read ahead for an end that did not come, in all
_DEEPEST_INPUT: Final = 20
_LOOKED_AT: Final = 200  # characters or tokens
_LONGEST_LINE: Final = 2000  # characters up to an end on the same line


@dataclass(slots=True)
class _Frame:
    """A text, how far it is read, and tokens to be read before the rest, the next one last."""

    text: str
    at: int = 0
    ahead: list[str] = field(default_factory=list)


class TokenStream:
    """The tokens of a text, of texts inserted before the rest of it, and tokens put back."""

    def __init__(self, text: str) -> None:
        self._frames = [_Frame(text)]
        self._floor = 0
        self._in_vain = 0

    def take(self) -> str:
        """The next lexeme; empty at the end."""
        while len(self._frames) > self._floor:
            frame = self._frames[-1]
            if frame.ahead:
                return frame.ahead.pop()
            match = _TOKEN.match(frame.text, frame.at)
            if match is None:
                self._frames.pop()
                continue
            frame.at = match.end()
            kind = match.lastgroup
            if kind == "blank":
                return PARAGRAPH if match[0].count("\n") > 1 else " "
            if kind != "comment":
                return match[kind or 0]
        return ""

    def put_back(self, tokens: list[str]) -> None:
        """Have *tokens* read next."""
        if len(self._frames) <= self._floor:
            self._frames.append(_Frame(""))
        self._frames[-1].ahead.extend(reversed(tokens))

    def put_back_one(self, lexeme: str) -> None:
        """Have *lexeme* read next; nothing where `take` met the end."""
        if lexeme:
            self.put_back([lexeme])

    def insert(self, text: str) -> bool:
        """Have *text* read next, unless texts insert each other too deep."""
        if len(self._frames) > _DEEPEST_INPUT:
            return False
        self._frames.append(_Frame(text))
        return True

    def stop(self) -> None:
        """Read no more of the innermost text."""
        if len(self._frames) > self._floor:
            self._frames.pop()

    def finish(self) -> None:
        """Read no more of any text."""
        del self._frames[self._floor :]

    @contextmanager
    def apart(self, source: str | list[str]) -> Iterator[None]:
        """Read nothing but *source* meanwhile, text or tokens."""
        floor, self._floor = self._floor, len(self._frames)
        frame = _Frame(source) if isinstance(source, str) else _Frame("", 0, source[::-1])
        self._frames.append(frame)
        try:
            yield
        finally:
            del self._frames[self._floor :]
            self._floor = floor

    def peek(self) -> str:
        """The next lexeme that is no blank; blanks before it are gone."""
        while (lexeme := self.take()) == " ":
            pass
        self.put_back_one(lexeme)
        return lexeme

    def take_star(self) -> bool:
        """Whether a star follows, which is taken."""
        if self.peek() != "*":
            return False
        self.take()
        return True

    def take_argument(self, *, long: bool = False) -> list[str]:
        """The tokens of the next argument, without its braces.

        One that is never closed ends with the paragraph, unless it may be *long*.
        """
        lexeme = self.peek()
        if lexeme in ("", "}") or (lexeme == PARAGRAPH and not long):
            return []
        lexeme = self.take()
        if lexeme != "{":
            if len(lexeme) > 1 and lexeme[0] != "\\":  # only the first letter of a run
                self.put_back([lexeme[1:]])
                return [lexeme[0]]
            return [lexeme]
        return self.take_group(long=long)

    def take_text(self) -> str:
        """The next argument as text, without blanks at its ends."""
        return joined(self.take_argument()).strip()

    def take_group(self, *, long: bool = False) -> list[str]:
        """The tokens up to the brace that closes the one just read."""
        found: list[str] = []
        depth = 1
        while lexeme := self.take():
            if lexeme == "{":
                depth += 1
            elif lexeme == "}":
                depth -= 1
                if not depth:
                    break
            elif lexeme == PARAGRAPH and not long:
                break
            found.append(lexeme)
        return found

    def take_option(self) -> list[str] | None:
        """The tokens between brackets, if they follow."""
        if self.peek() != "[":
            return None
        found: list[str] = [self.take()]
        depth = 0
        most = _OPTION_TOKENS if self._in_vain < _IN_VAIN else _OPTION_TOKENS_LATER
        while len(found) < most and (lexeme := self.take()):
            found.append(lexeme)
            depth += (lexeme == "{") - (lexeme == "}")
            if lexeme == "]" and depth <= 0:
                return found[1:-1]
            if lexeme == PARAGRAPH:
                break
        self._in_vain += len(found)
        self.put_back(found)
        return None

    def _frame(self) -> _Frame:
        """The innermost text; an empty one at the end."""
        return self._frames[-1] if len(self._frames) > self._floor else _Frame("")

    def follows(self, sign: str) -> bool:
        """Whether *sign* stands next, behind blanks; nothing is read, no comment passed over."""
        frame = self._frame()
        ahead = "".join(frame.ahead[::-1][:_LOOKED_AT])
        text = ahead if frame.ahead else frame.text[frame.at : frame.at + _LOOKED_AT]
        return text.lstrip().startswith(sign)

    def take_raw(self, end: str, *, same_line: bool = False) -> str:
        """The uncut text up to *end*, or the end of the line or of everything; *end* is taken."""
        if len(self._frames) <= self._floor:
            return ""
        frame = self._frames[-1]
        cut, ended = self._take_raw_ahead(end, same_line=same_line)
        if ended:
            return cut
        last = min(len(frame.text), frame.at + _LONGEST_LINE) if same_line else len(frame.text)
        if same_line and (line := frame.text.find("\n", frame.at, last)) >= 0:
            last = line
        stop = frame.text.find(end, frame.at, last)
        text = frame.text[frame.at : last if stop < 0 else stop]
        frame.at = last if stop < 0 else stop + len(end)
        return cut + text

    def _take_raw_ahead(self, end: str, *, same_line: bool) -> tuple[str, bool]:
        """The text up to *end* among tokens that were put back, and whether it ends there.

        Only what is taken is joined: the rest may be as long as the paper.
        """
        ahead = self._frames[-1].ahead
        found: list[str] = []
        tail = ""
        while ahead:
            lexeme = ahead.pop()
            if same_line and lexeme == PARAGRAPH:
                ahead.append(lexeme)
                return joined(found), True
            found.append(lexeme)
            tail = tail[-len(end) :] + lexeme
            if end in tail:
                before, _, after = joined(found).partition(end)
                ahead += [after] if after else []
                return before, True
        return joined(found), False

    def take_address(self) -> str:
        """An argument in which a percent sign begins no comment, unless it ends the line."""
        frame = self._frame()
        if frame.ahead == ["{"] and frame.text[frame.at - 1 : frame.at] == "{":  # only looked at
            frame.ahead.clear()
            frame.at -= 1
        match = None if frame.ahead else _ADDRESS.match(frame.text, frame.at)
        if match is None:
            return joined(self.take_argument())
        frame.at = match.end()
        return _LINE_END.sub("", match[1])

    def take_file_name(self) -> str:
        r"""A file's name, in braces or, as plain TeX has it, up to the next blank."""
        if self.peek() == "{":
            return joined(self.take_argument())
        parts: list[str] = []
        while (lexeme := self.take()) and lexeme not in (" ", PARAGRAPH, "{", "}"):
            if lexeme[0] == "\\":
                break
            parts.append(lexeme)
        self.put_back_one(lexeme)
        return "".join(parts)

    def take_character(self) -> str:
        """The next character, whatever token it belongs to."""
        frame = self._frame()
        if frame.ahead:
            lexeme = frame.ahead.pop()
            frame.ahead += [lexeme[1:]] if lexeme[1:] else []
            return lexeme[0]
        frame.at += 1
        return frame.text[frame.at - 1 : frame.at]


def joined(tokens: list[str]) -> str:
    """Tokens as the text they were cut from, as far as TeX cares."""
    parts: list[str] = []
    last = ""
    for lexeme in tokens:
        if last[:1] == "\\" and last[-1:].isalpha() and lexeme[:1].isalpha():
            parts.append(" ")
        parts.append("\n\n" if lexeme == PARAGRAPH else lexeme)
        last = lexeme
    return "".join(parts)
