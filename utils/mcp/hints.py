"""Rewrite the hints of answers and errors for MCP: tools in place of shell commands.

The rooms below give hints that can be pasted into a shell. A model that reads them over MCP has
tools instead. Where a loaded tool does what a command does, the hint names the tool. What only a
person at a shell can do stays a command, is marked as such, and comes last.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..command_line import PROGRAM

DOTTED_TOOL_NAMES = {
    "pubmed_sync_delta": "pubmed.sync_delta",
    "rag_search": "rag.search",
    "rag_get": "rag.get",
    "corpus_checkpoint_get": "corpus.checkpoint.get",
    "corpus_checkpoint_set": "corpus.checkpoint.set",
    "verify_quote": "corpus.verify_quote",
}
"""Tools of toolset ``rag`` by the names of its document (``MCP_TOOL_NAMES=dotted``)."""
_DOTTED_NAME_PATTERN = re.compile(rf"\b(?:{'|'.join(DOTTED_TOOL_NAMES)})\b")
_TOOL_BY_COMMAND = {
    "search": "search_pubmed",
    "download": "download_papers",
    "read": "read_paper",
    "list": "list_papers",
    "cite": "cite_papers",
    "harvest status": "harvest_status",
    "harvest": "harvest_papers",
    "review related": "get_article_relationships",
    "check": "check_manuscript",
    "corpus sync": "pubmed_sync_delta",
    "corpus index": "pubmed_sync_delta",
    "corpus find": "rag_search",
    "corpus quote": "verify_quotes",
    "data stage": "entrez_data",
    "data sql": "entrez_data",
}
"""The tool that does what a command of the shell does."""
# A command with what follows it: options, names in capitals, identifiers.
_COMMAND_PATTERN = re.compile(
    rf"`?{re.escape(PROGRAM)} (?P<verb>{'|'.join(_TOOL_BY_COMMAND)})\b"
    r"(?! (?:report|resolve|inbox)\b)"
    r"(?P<rest>(?: (?:'[^'`]*'|(?:-|[A-Z'\"]|\w+[:/])[^\s`,;()]*(?<![.])))*)`?"
)
_IDENTIFIER_SEARCH_PATTERN = re.compile(
    rf"`?{re.escape(PROGRAM)} search '(PMC\d+|10\.\d[^\s'`]*)'`?"
)
_REPEATED_TOOL_PATTERN = re.compile(r"\b(\w+), then \1\b")
_SHELL_PATTERN = re.compile(
    rf"{re.escape(PROGRAM)} |\buv (?:sync|run|pip)\b|\bpip install\b|papershelf\[|(?<!\S)--\w"
)
_INSTALL_PATTERN = re.compile(r"\buv sync\b|\bpip install\b|papershelf\[")
_MESSAGE_MEMBERS = ("warnings", "next", "message", "why")  # members with sentences of ours
_SHELL_HINT_PREFIX = "For the user, in a shell: "
_NOTICE_SUBJECT_MAX_WORDS = 6  # words of "Found by words alone"; more is the hint itself


class HintRewriter:
    """Rewrites hints for a host that has the given tools, with dotted or plain tool names."""

    def __init__(self, tools: Sequence[str], *, dotted: bool = False) -> None:
        plain = {dotted_name: name for name, dotted_name in DOTTED_TOOL_NAMES.items()}
        self._tools = frozenset(plain.get(tool, tool) for tool in tools)
        self._dotted = dotted
        self._mentioned: set[str] = set()

    def rewrite_error(self, envelope: dict[str, Any]) -> dict[str, Any]:
        """Return an error envelope whose message and suggestions are for this host."""
        error = envelope["error"]
        told = {"message": self._use_dotted_names(error["message"])}
        return {"error": {**error, **told, "suggestions": self.rewrite_hints(error["suggestions"])}}

    def rewrite_hints(self, hints: Sequence[str]) -> list[str]:
        """Return the hints with tools in place of commands; hints for the shell come last."""
        told = [self._rewrite_hint(hint) for hint in hints]
        return sorted(told, key=lambda hint: hint.startswith(_SHELL_HINT_PREFIX))

    def _rewrite_hint(self, sentence: str) -> str:
        """Return a hint for the host; one that still names a command is marked for the user."""
        told = self._use_dotted_names(
            _REPEATED_TOOL_PATTERN.sub(r"\1", _COMMAND_PATTERN.sub(self._to_tool_call, sentence))
        )
        return f"{_SHELL_HINT_PREFIX}{told}" if _SHELL_PATTERN.search(told) else told

    def _to_tool_call(self, command: re.Match[str]) -> str:
        """Return the tool call that replaces a shell command, or the command unchanged."""
        if re.search(r"(?:^| )-", command["rest"]):
            return command[0]  # no tool has the options of a command
        tool = _TOOL_BY_COMMAND[command["verb"]]
        if "convert_ids" in self._tools and (
            known := _IDENTIFIER_SEARCH_PATTERN.fullmatch(command[0])
        ):
            return f'convert_ids(papers=["{known[1]}"])'
        if tool not in self._tools:
            return command[0]
        if papers := re.findall(r"(?:pmid|doi|pmcid|arxiv):\S+", command["rest"]):
            paper = f'papers=["{papers[0]}"]' if tool.endswith("papers") else f'paper="{papers[0]}"'
            return f"{tool}({paper})"
        quoted = re.fullmatch(r" '?([^']+)'?", command["rest"])
        return f'{tool}(query="{quoted[1]}")' if quoted and command["verb"] == "search" else tool

    def _use_dotted_names(self, sentence: str) -> str:
        """Return a sentence with the dotted tool names, where the settings ask for these."""
        return (
            _DOTTED_NAME_PATTERN.sub(lambda found: DOTTED_TOOL_NAMES[found[0]], sentence)
            if self._dotted
            else sentence
        )

    def rewrite_answer(self, value: Any, is_message: bool = False) -> Any:
        """Return a structure in which every message of Papershelf, at any depth, names tools."""
        if isinstance(value, dict):
            return {
                name: self.rewrite_answer(one, name in _MESSAGE_MEMBERS)
                if name in _MESSAGE_MEMBERS or isinstance(one, dict | list)
                else one
                for name, one in value.items()
            }
        if isinstance(value, list):
            rewritten = (self.rewrite_answer(one, is_message) for one in value)
            return [one for one in rewritten if one != ""] if is_message else [*rewritten]
        if not is_message or not isinstance(value, str):
            return value
        if not _SHELL_PATTERN.search(value):
            return self._use_dotted_names(value)
        if _INSTALL_PATTERN.search(value):
            return self._shorten_repeats(value)
        return self._use_dotted_names(
            _REPEATED_TOOL_PATTERN.sub(r"\1", _COMMAND_PATTERN.sub(self._to_tool_call, value))
        )

    def _shorten_repeats(self, notice: str) -> str:
        """Return an installation notice in full the first time, and only its subject later."""
        if notice not in self._mentioned:
            self._mentioned.add(notice)
            return notice
        head = notice.partition(": ")[0]
        return f"{head}." if len(head.split()) <= _NOTICE_SUBJECT_MAX_WORDS else ""
