"""Spell the shell commands in an error as calls of `Library`, for readers in Python.

Hints name commands of the shell. The shell prints them unchanged and `utils.mcp.hints` names
tools. In Python, ``str(error)`` names methods: ``library.harvests.all()`` for ``harvest status``.
A command without a method, or with an option that its method lacks, stays as it is.
"""

from __future__ import annotations

import json
import re
import shlex

from .command_line import PROGRAM

CALL_BY_COMMAND = {
    "search": "search(query)",
    "download": "download(paper)",
    "read": "read(paper)",
    "read --source": "texts.places(paper)",
    "list": "list_papers()",
    "cite": "cite(papers)",
    "export": "upkeep.write_references()",
    "export pack": "references.pack(papers, program)",
    "harvest": "harvest(papers)",
    "harvest --job": "harvest(job_id=job_id)",
    "harvest status": "harvests.all()",
    "harvest report": "harvest(job_id=job_id).report()",
    "harvest resolve": "references.resolve(papers)",
    "harvest inbox": "upkeep.take_in()",
    "harvest inbox --accept": "upkeep.take_in(accept=reason)",
    "harvest inbox --watch": "upkeep.watch_inbox()",
    "check": "check(manuscript)",
    "review status": "reviews.all()",
    "review new": "reviews.create(name)",
    "review update": "reviews.open(name).update()",
    "review report": "reviews.open(name).report()",
    "review export": "reviews.open(name).export(program)",
    "review import": "reviews.open(name).read_decisions(data, name)",
    "shelf adopt": "upkeep.adopt(folder)",
    "adopt": "upkeep.adopt(folder)",
    "adopt --by": "upkeep.adopt(folder, by=by)",
    "adopt --as": "upkeep.adopt(folder, paper=paper)",
    "shelf audit": "upkeep.audit()",
    "shelf keep": "upkeep.keep(paper, decided, because)",
    "shelf keep --undo": "upkeep.undo_keep(paper)",
    "shelf recheck": "upkeep.recheck()",
    "watch": "watches.add(name)",
    "watch --list": "watches.list_all()",
    "watch --undo": "watches.remove(name)",
    "shelf rebuild": "upkeep.rebuild()",
    "shelf reextract": "upkeep.reextract()",
    "shelf pdf": "texts.fetch_pdfs()",
    "shelf media": "objects(paper)",
    "shelf verify": "verify(files)",
    "corpus sync": "corpus.sync(query_key, term)",
    "corpus index": "corpus.index()",
    "corpus find": "corpus.find(query)",
    "corpus quote": "corpus.verify_quote(text)",
    "corpus learn": "corpus.learn(file)",
    "corpus stats": "corpus.stats()",
    "data sql": "datasets.query(dataset, sql)",
    "data datasets": "datasets.list()",
    "mirror pubmed": "mirror.update()",
    "mirror pmc": "mirror.update_pmc()",
    "mirror pmc --all": "mirror.update_pmc(papershelf.mirror.pmc.Choice())",
    "mirror pmc --retry": "mirror.update_pmc(retry=True)",
    "mirror index": "mirror.index()",
    "mirror embed": "mirror.embed()",
    "mirror citations": "mirror.update_citations()",
    "mirror verify": "mirror.verify()",
    "zotero pull": "zotero.pull()",
    "zotero push": "zotero.push(papers)",
    "setup doctor": "doctor()",
}
"""The call of `Library` that does what a command does, with the arguments of a bare command."""
_POSITIONAL_OPTIONS = frozenset({"as", "because", "for"})
"""Options of a command whose values are positional arguments of its method."""
_KEYWORD_BY_OPTION = {
    "attach": "attach",
    "database": "database",
    "engine": "engine",
    "fix": "fix",
    "folder": "folder",
    "force": "force",
    "job": "job_id",
    "output": "output",
    "pairs": "pairs",
    "retry": "retry",
    "scheduler": "scheduler",
    "source": "sources",
}
"""The keyword arguments that mean the same as an option."""
_FLAG_OPTIONS = frozenset({"fix", "force"})
_METHODS_TAKING_LISTS = frozenset(
    {"upkeep.audit", "texts.fetch_pdfs", "references.resolve", "cite", "verify"}
)
_VALUE_PATTERN = r"(?:'[^'`]*'|[^\s`,;()'-][^\s`,;()']*(?<![.]))"
# An argument that cannot be a word of the sentence: quoted, in capitals, or an identifier.
_ARGUMENT_PATTERN = r"(?:'[^'`]*'|[A-Z][A-Z_]*\b|[^\s`,;()'-]*[:/\d][^\s`,;()']*(?<![.]))"
_OPTION_PATTERN = (
    rf"--(?:(?:as|because|for|database|folder|job|papers-dir) {_VALUE_PATTERN}|[a-z-]+)"
)
_PLAIN_COMMANDS = [command for command in CALL_BY_COMMAND if "-" not in command]
_COMMAND_PATTERN = re.compile(
    rf"`?{re.escape(PROGRAM)} (?P<words>"
    rf"(?:review (?:export|import|new|report|update) {_VALUE_PATTERN}"
    rf"|(?:{'|'.join(sorted(_PLAIN_COMMANDS, key=len, reverse=True))})\b)"
    rf"(?: (?:{_OPTION_PATTERN}|{_ARGUMENT_PATTERN}))*)`?"
)
_PARAMETER_PATTERN = re.compile(r"(?<=[(, =])[a-z_]+(?=[,)])")
_BARE_OPTION_PATTERN = re.compile(
    rf"(?<![\w-])`?--(?:(?P<named>attach|engine|retry) (?P<word>{_VALUE_PATTERN})"
    rf"|(?P<name>{'|'.join(_KEYWORD_BY_OPTION)})\b(?: (?P<value>{_ARGUMENT_PATTERN}))?)`?"
)


def to_python_calls(text: str) -> str:
    """Return a text with calls of `Library` in place of commands and options of the shell.

    >>> to_python_calls(f"To list all: {PROGRAM} harvest status. Or use --force.")
    'To list all: library.harvests.all(). Or use force=True.'
    """
    return _BARE_OPTION_PATTERN.sub(_to_keyword, _COMMAND_PATTERN.sub(_to_call, text))


def _to_call(command: re.Match[str]) -> str:
    """Return the call that replaces a command; the command where no method has its options."""
    words = shlex.split(command["words"])
    length = 2 if " ".join(words[:2]) in CALL_BY_COMMAND else 1
    name, rest = " ".join(words[:length]), words[length:]
    for option in [word for word in rest if word.startswith("--")]:
        if f"{name} {option}" in CALL_BY_COMMAND:
            name = f"{name} {option}"
            rest.remove(option)
    given = iter(rest)
    values, keywords = [], []
    for word in given:
        option = word.removeprefix("--")
        if option == word:
            values.append(_quote(word))
        elif option in _POSITIONAL_OPTIONS:
            values.append(_quote(next(given, "")))
        elif option in _KEYWORD_BY_OPTION:
            value = "True" if option in _FLAG_OPTIONS else _quote(next(given, ""))
            keywords.append(f"{_KEYWORD_BY_OPTION[option]}={value}")
        else:
            return command[0]
    return f"library.{_fill_arguments(CALL_BY_COMMAND[name], values, keywords)}"


def _fill_arguments(call: str, values: list[str], keywords: list[str]) -> str:
    """Return a call with values in place of its parameters, and with keyword arguments."""
    if values and call.partition("(")[0] in _METHODS_TAKING_LISTS:
        values = [f"[{', '.join(values)}]"]
    unused = iter(values)
    call = _PARAMETER_PATTERN.sub(lambda name: next(unused, name[0]), call)
    added = ", ".join((*unused, *keywords))
    return f"{call[:-1]}{', ' if added and call[-2] != '(' else ''}{added})" if added else call


def _to_keyword(option: re.Match[str]) -> str:
    """Return the keyword argument that replaces an option; ``name=…`` where no value is given."""
    name = option["named"] or option["name"]
    value = option["word"] or option["value"]
    if name in _FLAG_OPTIONS:
        return f"{_KEYWORD_BY_OPTION[name]}=True{f' {value}' if value else ''}"
    return f"{_KEYWORD_BY_OPTION[name]}={_quote(value) if value else '…'}"


def _quote(value: str) -> str:
    """Return a value as a Python literal with double quotes."""
    return json.dumps(value.strip("'"), ensure_ascii=False)
