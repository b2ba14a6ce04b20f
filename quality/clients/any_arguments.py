"""Calls of every kind, made from the tools' own input schemas, and the judge of their answers.

Nothing here knows the tools by name: what is listed is called. Values mostly fit their schema and
mostly mean something in the stand-in internet; now and then they do neither.
"""

import itertools
import json
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jsonschema import Draft202012Validator

from tests.clients.judge import fault_of_refusal, fault_of_result
from tests.world import World
from utils.mcp.entrez import Operation
from utils.mcp.entrez_capabilities import OPERATIONS

ROUND = 20  # calls in one mood of the world
AT_ONCE = 10  # calls that a host makes at the same time
Call = tuple[str, dict[str, Any]]

LAST_JOB = "the job of the last harvest"
LAST_FILE = "the file of the last paper"
LAST_DATASET = "the last dataset"
# Those that cost no real time; between two of them the world is calm.
MOODS = (
    *("down", "storm", "garbage", "reset", "empty", "truncate", "mislabel", "captcha", "paywall"),
    *("login", "wrong_paper", "redirect_loop", "ssrf", "xml_bomb", "external_entity"),
    *("deep_nesting", "md5_mismatch"),
)
NOWHERE = "http://127.0.0.1:9/latest/meta-data/"  # where nobody listens
WORDS = ("coral", "CXCL12", "CXCR4", "neoplasms", "cells", "crowd[ti] AND 2020[dp]", "Review")
DATABASES = ("pubmed", "gene", "clinvar", "taxonomy", "Gene ", "nosuch")
STATEMENTS = (
    *("SELECT * FROM _dataset", "SELECT name FROM sqlite_schema", "SELECT count(*) FROM gene"),
    *("DROP TABLE gene", "SELECT 1; SELECT 2", "SELECT nmae FROM gene", "ATTACH 'x' AS y"),
)
DATES = ("2020", "2024/05", "2025/01/31", "2020/02/30", "3000", "1799/1/1")
JUNK = (
    *("", " ", "0", "-1", "null", "((", '"', "'; --", "|", "\r", "\n\n", "\x00", "\x1b[31m",
        "\ud7ff"),
    *("\u202e", "\uffff", "𝕏", "é" * 300, "9" * 40, "{}", "%00", "../x", "/etc/passwd", "<b>",
        "a" * 9000),
)  # fmt: skip
ODD = (None, True, False, 0, -1, 2.5, 1e308, 10**18, [], [None], [[]], {}, {"x": 1}, "", "yes")


class Calls:
    """An endless stream of calls to every tool in turn, some about papers of *world*.

    Parameters
    ----------
    tools
        As the protocol lists them.
    begin
        The same number makes the same calls.
    """

    def __init__(self, tools: Iterable[Mapping[str, Any]], world: World, begin: int = 0) -> None:
        self._turns = itertools.cycle(tools)
        self._random = random.Random(begin)
        papers = world.papers
        pmids = [one.pmid for one in papers if one.pmid]
        dois = [one.doi for one in papers if one.doi]
        pmcids = [one.pmcid for one in papers if one.pmcid]
        preprints = [one.arxiv for one in papers if one.arxiv]
        anything = [*pmids, *dois, *pmcids, *preprints, f"https://doi.org/{dois[0]}"]
        self._known: dict[str, Sequence[str]] = {
            "pmid": [*pmids, "39999999", f"0{pmids[0]}"], "source": pmids,
            "doi": [*dois, "10.9999/nobody.knows"], "pmcid": [*pmcids, "PMC9999999"],
            "arxiv": [*preprints, "2401.99999"], "id": anything,
            "paper": [*anything, *[LAST_FILE] * len(anything)], "job": [LAST_JOB],
            "database": DATABASES, "to_database": DATABASES, "dataset": [LAST_DATASET],
            "sql": STATEMENTS, "history": ["h_0123456789abcdef"],
            "tool_name": [*OPERATIONS, "search_pubmed", "entrez_qery"],
            "file": ["found.csv", "found.parquet", "../found.csv"],
            "year": ["2024", "2025", "20", ""], "min_date": DATES, "max_date": DATES,
        }  # fmt: skip

    def __iter__(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for tool in self._turns:
            schema = tool["inputSchema"]
            ways = OPERATIONS.get(tool["name"])
            arguments = self._operation(schema, ways) if ways else self._object(schema)
            if self._random.random() < 0.2:
                arguments |= self._strange(schema)
            yield tool["name"], arguments

    def _object(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """What *schema* describes: all that is required, and some of the rest."""
        named = schema.get("properties", {})
        required = list(schema.get("required", ()))
        rest = [name for name in named if name not in required]
        more = self._random.sample(
            rest, min(len(rest), self._random.choice((0, 1, 1, 1, 2, 3, 99)))
        )
        return {name: self._value(named[name], name) for name in (*required, *more)}

    def _operation(
        self, schema: Mapping[str, Any], ways: Mapping[str, Operation]
    ) -> dict[str, Any]:
        """One of several operations, mostly with what it takes."""
        if self._random.random() < 0.2:
            return self._object(schema)
        name, way = self._random.choice([*ways.items()])
        rest = way.takes.split()
        names = [*way.needs.split(), *self._random.sample(rest, min(len(rest), 2))]
        names += [self._random.choice(way.one_of.split())] if way.one_of else []
        values = {each: self._value(schema["properties"][each], each) for each in names}
        return {"operation": name, **values}

    def _strange(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """A value of any kind, under a name that *schema* knows or does not."""
        name = self._random.choice([*schema.get("properties", {}), "x", ""])
        return {name: self._random.choice((*ODD, self._text(name)))}

    def _value(self, schema: Mapping[str, Any], name: str) -> Any:
        if "anyOf" in schema:
            return self._value(self._random.choice(schema["anyOf"]), name)
        if "enum" in schema:
            return self._random.choice(schema["enum"])
        kind = schema["type"]
        if kind == "object":
            return self._object(schema)
        if kind == "array":
            size = self._random.choice((0, 1, 1, 2, 3, 5))
            size = max(schema.get("minItems", 0), min(schema.get("maxItems", size), size))
            return [self._value(schema["items"], name) for _ in range(size)]
        if kind in ("integer", "number"):
            return self._number(schema)
        return {"boolean": self._random.random() < 0.5, "null": None}.get(kind, self._text(name))

    def _number(self, schema: Mapping[str, Any]) -> int:
        # `randint` takes no float since Python 3.12, and a schema's bounds may be some.
        least = math.ceil(schema.get("minimum", -3))
        most = math.floor(schema.get("maximum", 10_000))
        near = self._random.randint(least, min(most, least + 20))
        return self._random.choice((*[near] * 6, least, most, self._random.randint(least, most)))

    def _text(self, name: str) -> str:
        if self._random.random() < 0.1:
            return self._random.choice((*JUNK, self._characters()))
        known = (values for begun, values in self._known.items() if name.startswith(begun))
        return self._random.choice(next(known, WORDS))

    def _characters(self) -> str:
        """Any characters but halves of surrogate pairs, which no JSON parser has to take."""
        points = (self._random.choice((0x7F, 0x2FF, 0xD7FF)) for _ in range(30))
        return "".join(chr(self._random.randint(0, most)) for most in points)


@dataclass
class Tally:
    """What came of the calls of each tool."""

    results: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    at_once: int = 0
    defects: list[tuple[str, dict[str, Any], str, str]] = field(default_factory=list)

    def table(self) -> str:
        """One line a tool."""
        wrong = Counter(tool for tool, *_ in self.defects)
        lines = [f"{'tool':28}{'calls':>8}{'results':>9}{'refusals':>9}{'defects':>9}"]
        for tool in sorted({*self.results, *self.refusals, *wrong}):
            counts = self.results[tool], self.refusals[tool], wrong[tool]
            calls = self.results[tool] + self.refusals[tool]
            lines.append(f"{tool:28}{calls:8}" + "".join(f"{count:9}" for count in counts))
        sums = self.results.total(), self.refusals.total(), len(self.defects)
        lines.append(f"{'all':28}{sum(sums[:2]):8}" + "".join(f"{count:9}" for count in sums))
        lines.append(f"made at once, {AT_ONCE} each: {self.at_once}")
        lines.append(", ".join(f"{code} {count}" for code, count in self.codes.most_common()))
        return "\n".join(lines)

    def reproductions(self) -> str:
        """Of every defect the shortest call that shows it, and how often it was seen."""
        shortest: dict[tuple[str, str], tuple[str, str]] = {}
        often: Counter[tuple[str, str]] = Counter()
        for tool, arguments, mood, fault in self.defects:
            kind = tool, re.sub(r"\W*\b\w*\d\w*\b\W*", "#", fault[-200:])
            often[kind] += 1
            call = f"{tool} {json.dumps(arguments)} ({mood})", fault
            shortest[kind] = min(call, shortest.get(kind, call), key=lambda one: len(one[0]))
        return "\n\n".join(
            f"{often[kind]} × {call:.600}\n    {fault}" for kind, (call, fault) in shortest.items()
        )


class Caller:
    """Makes calls, judges the answers, and remembers jobs and files for the calls after.

    Parameters
    ----------
    tools
        As the protocol lists them (``name``, ``inputSchema``, ``outputSchema``).
    call
        Makes calls at once; what it returns are the results as they stood on the wire.
    heard
        What was written since it was last asked, where nothing should be: tracebacks in the log,
        bytes on standard output.
    """

    def __init__(
        self,
        tools: list[dict[str, Any]],
        call: Callable[[Sequence[Call]], Sequence[dict[str, Any]]],
        heard: Callable[[], str],
    ) -> None:
        self.tally = Tally()
        self._schemas = {tool["name"]: tool["outputSchema"] for tool in tools}
        for schema in self._schemas.values():
            Draft202012Validator.check_schema(schema)
        self._call, self._heard = call, heard
        self._last = {LAST_JOB: "", LAST_FILE: "", LAST_DATASET: ""}

    def __call__(self, calls: Sequence[Call], mood: str = "") -> None:
        """Make calls at once and write down what came of each.

        What was heard meanwhile is written down with the last of them.
        """
        made = [(tool, {name: self._filled(value) for name, value in arguments.items()})
                for tool, arguments in calls]  # fmt: skip
        results = self._call(made)
        heard = self._heard()
        for (tool, arguments), result in zip(made, results, strict=True):
            if fault := self._fault(tool, result):
                self.tally.defects.append((tool, arguments, mood or "calm", fault))
        if heard:
            self.tally.defects.append((*made[-1], mood or "calm", heard))

    def _fault(self, tool: str, result: Mapping[str, Any]) -> str:
        """Count a result, remember what it made, and say what is wrong with it."""
        if not result.get("isError"):
            self.tally.results[tool] += 1
            if fault := fault_of_result(result, self._schemas[tool]):
                return fault
            self._remember(result["structuredContent"])
            return ""
        self.tally.refusals[tool] += 1
        code = (result.get("_meta") or {}).get("error", {}).get("code", "no code")
        self.tally.codes[code] += 1
        return fault_of_refusal(result)

    def _filled(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._filled(one) for one in value]
        return self._last.get(value, value) if isinstance(value, str) else value

    def _remember(self, structure: Mapping[str, Any]) -> None:
        self._last[LAST_JOB] = structure.get("job_id") or self._last[LAST_JOB]
        self._last[LAST_DATASET] = structure.get("dataset") or self._last[LAST_DATASET]
        path = structure.get("file_path") or ""
        self._last[LAST_FILE] = path.rpartition("/")[2] or self._last[LAST_FILE]


def make_calls(
    caller: Caller,
    calls: Calls,
    number: int,
    world: World,
    settle: Callable[[], None],
) -> None:
    """*number* calls, the world's mood changing after each `ROUND`; *settle* is called between.

    In every second round of each mood some are made at once.
    """
    moods = itertools.cycle(mood for bad in MOODS for mood in ("", "", bad, bad))
    planned = itertools.islice(calls, number)
    for turn, begun in enumerate(iter(lambda: list(itertools.islice(planned, ROUND)), [])):
        world.reset()
        settle()
        if mood := next(moods):
            world.mood(mood, seconds=0, to=NOWHERE)
        size = AT_ONCE if turn % 2 else 1
        for at in range(0, len(begun), size):
            caller(begun[at : at + size], mood)
            caller.tally.at_once += size > 1 and len(begun[at : at + size])
    world.reset()
