"""Define tools, and run their calls.

`make_tool` makes a tool from a function. FastMCP generates both schemas from the function's
annotations; hosts get them shortened, because every conversation pays for them
(`Tool.to_mcp_tool`). A function returns the structure that its annotation names, and raises a
`PaperError` for what a caller can act on. Parameters that several tools have in common are declared
here.

A call runs in a thread, reports progress while a site keeps it waiting, and gives up in good time
(`run_in_thread`). Hosts see the tools of the toolsets that ``MCP_TOOLSETS`` names
(`list_enabled_tools`): each definition costs tokens in every conversation, so the default is
``core`` alone. A toolset that was not asked for is not imported either.
"""

from __future__ import annotations

import functools
import logging
import math
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Annotated, Any, Literal, TypeVar
from weakref import WeakValueDictionary

from fastmcp.exceptions import ToolError
from fastmcp.tools import FunctionTool, ToolResult
from fastmcp.utilities.json_schema import dereference_refs
from fastmcp.utilities.types import get_cached_typeadapter
from mcp.types import Tool as MCPTool
from mcp.types import ToolAnnotations
from pydantic import BeforeValidator, Field, PrivateAttr, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from ..errors import BadRequest, NothingFound, PaperError, Unreachable
from ..http import Cancellation, Cooldown
from ..http.work import MAX_ANSWER_S, SharedWork
from ..library import Library
from ..plugins import import_by_name
from ..settings import TOOLSETS
from .answers import build_result
from .arguments import normalize_arguments, to_bad_request

MAX_WAIT_S = 50.0
"""Of a call that asks to wait: hosts give a call up after a minute (TypeScript SDK's default)."""
_PROGRESS_INTERVAL_S = 1.0
Result = TypeVar("Result")
MAX_START = 1_000_000_000  # no list is that long


def _to_text(value: object) -> object:
    """Convert a whole number or null to text; the schema rejects other types."""
    if value is None:
        return ""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if whole else value


# Models send identifiers and years as numbers, and null for what they leave out.
TextOrNumber = Annotated[str, BeforeValidator(_to_text)]
AnyPaper = Annotated[TextOrNumber, Field(description="Identifier of any kind.")]
MinDate = Annotated[TextOrNumber, Field(description="Earliest date: 2020 or 2020-01-31.")]
MaxDate = Annotated[TextOrNumber, Field(description="Latest date, included.")]
Sort = Annotated[
    Literal["pub_date", "relevance", "author", "journal"], Field(description="Sort order.")
]
DateType = Annotated[
    Literal["pdat", "edat", "mdat"], Field(description="Date of publication, entry or change.")
]
Types = Annotated[Sequence[str], Field(description="Publication types, such as Review.")]
Source = Annotated[
    Literal["corpus", "mirror"], Field(description="Where to search; mirror is all of PubMed.")
]
Count = Annotated[int, Field(ge=1, le=1000, description="Maximum number of papers.")]
CountTo100 = Annotated[int, Field(ge=1, le=100, description="Maximum number of papers.")]
Start = Annotated[int, Field(ge=0, le=MAX_START, description="next_start of the last answer.")]

READS_WEB = ToolAnnotations(
    read_only_hint=True, idempotent_hint=True, destructive_hint=False, open_world_hint=True
)
# By the protocol what only reads is idempotent: the word would only cost tokens.
READS_SHELF = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False)
ADDS_FILES = ToolAnnotations(
    read_only_hint=False, idempotent_hint=True, destructive_hint=False, open_world_hint=True
)
_TITLE_WORDS = {
    "arxiv": "arXiv", "rag": "RAG", "pubmed": "PubMed", "bibtex": "BibTeX", "mesh": "MeSH",
    "ids": "IDs", "lr": "ligand–receptor", "semantic": "Semantic", "scholar": "Scholar",
    "api": "API",
}  # fmt: skip


class Tool(FunctionTool):
    """An MCP tool that runs in a thread, returns a structure, and reports errors in plain words."""

    untrusted: Annotated[bool, Field(exclude=True)] = True
    _arguments: TypeAdapter[dict[str, Any]] = PrivateAttr()
    _schema: dict[str, Any] | None = PrivateAttr(default=None)

    def model_post_init(self, context: Any, /) -> None:
        """Build the validator of the arguments."""
        super().model_post_init(context)

        @functools.wraps(self.fn)
        def collect(**arguments: Any) -> dict[str, Any]:
            """Return the validated arguments."""
            return arguments

        self._arguments = get_cached_typeadapter(collect)

    def to_mcp_tool(self, **overrides: Any) -> MCPTool:
        """Return the definition for hosts, without what says nothing to a model."""
        shown = {"_meta": self.meta, "inputSchema": _shorten_input_schema(self.parameters)}
        made = super().to_mcp_tool(**{**shown, **overrides})
        if made.output_schema:
            made.output_schema = _shorten_output_schema(dereference_refs(made.output_schema))
        return made

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Run the tool in a thread until it ends or the host cancels the call."""
        return await run_in_thread(functools.partial(self._run_call, arguments))

    def _run_call(self, arguments: dict[str, Any]) -> ToolResult:
        """Read the arguments and call the function; an expected error carries its `PaperError`."""
        try:
            structure = self._call_checked(arguments)
        except NothingFound as nothing:  # a search without hits is answered like any other
            structure = nothing.row()
        except PaperError as error:
            # At this level FastMCP logs nothing: the error is the caller's, and in the answer.
            raise ToolError(error.text, log_level=logging.NOTSET) from error
        return build_result(structure, untrusted=self.untrusted)

    def _call_checked(self, arguments: dict[str, Any]) -> Any:
        if self._schema is None:
            self._schema = dereference_refs(dict(self.parameters))
        written: dict[str, str] = {}
        try:
            sent = to_json(normalize_arguments(arguments, self._schema, written))
            read = self._arguments.validate_json(sent, strict=True)
        except PydanticSerializationError as error:
            msg = "The arguments contain half of a surrogate pair, which is not valid text."
            raise BadRequest(msg, "Send whole characters.") from error
        except ValidationError as error:
            raise to_bad_request(error, self._schema, written) from error
        try:
            return self.fn(**read)
        except ValidationError as bug:  # else FastMCP would blame the arguments
            msg = f"{self.name} built a value of the wrong type."
            raise TypeError(msg) from bug


def make_tool(
    function: Callable[..., Any],
    hints: ToolAnnotations,
    *,
    name: str = "",
    description: str = "",
    untrusted: bool = True,
) -> Tool:
    """Make a tool, whose title is its name in words.

    Parameters
    ----------
    function : callable
        Its return annotation is a `TypedDict`, the structure of the answer.
    hints : ToolAnnotations
    name, description : str, optional
        Those of the function, if not given.
    untrusted : bool, optional
        Whether words in the answer come from the web.
    """
    name = name or function.__name__
    title = " ".join(_TITLE_WORDS.get(word, word) for word in name.split("_"))
    made = Tool.from_function(
        function,
        name=name,
        title=title[0].upper() + title[1:],
        description=description or None,
        annotations=hints,
    )
    update = {"parameters": _allow_extra_members(made.parameters), "untrusted": untrusted}
    return made.model_copy(update=update)  # type: ignore[return-value]


def _shorten_input_schema(schema: Any) -> Any:
    """Return an input schema as hosts see it, without what says nothing to a model.

    Bounds that no call reaches, and null as another form of leaving a parameter out, cost as many
    tokens as a description. Validation has them all the same.
    """
    if isinstance(schema, list):
        return [_shorten_input_schema(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    branches = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if len(branches) == 1:
        rest = {name: value for name, value in schema.items() if name != "anyOf"}
        return _shorten_input_schema({**branches[0], **rest})
    return {
        name: _shorten_input_schema(value)
        for name, value in schema.items()
        if not (name == "default" and value is None)
        and not (name in ("minimum", "maximum") and schema.get("maximum") == MAX_START)
    }


def _allow_extra_members(schema: Any) -> Any:
    """Return a schema that allows members beyond those it names.

    Google's SDK fails at ``additionalProperties: false`` of anybody's tool (google-genai 3.4 takes
    the value for a schema), and every host reads it once a tool.
    """
    if isinstance(schema, list):
        return [_allow_extra_members(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    closed = schema.get("additionalProperties") is False
    return {
        name: _allow_extra_members(one)
        for name, one in schema.items()
        if not (closed and name == "additionalProperties")
    }


def _shorten_output_schema(schema: Any) -> dict[str, Any]:
    """Return an output schema as hosts see it: required members, also of rows.

    >>> row = {"type": "object", "properties": {"pmid": {"type": "string"}}, "required": ["pmid"]}
    >>> papers = {"papers": {"type": "array", "items": row}, "total": {"type": "integer"}}
    >>> needed = ["papers", "total"]
    >>> _shorten_output_schema({"type": "object", "properties": papers, "required": needed})
    {'type': 'object', 'required': ['papers', 'total'], 'properties': {'papers': {'type': 'array', \
'items': {'type': 'object', 'required': ['pmid']}}}}
    """
    kept: dict[str, Any] = {"type": "object"}
    if required := schema.get("required"):
        kept["required"] = required
    members = {}
    for name, member in schema.get("properties", {}).items():
        if member.get("properties"):
            members[name] = _shorten_output_schema(member)
        elif member.get("items", {}).get("properties"):
            members[name] = {"type": "array", "items": _shorten_output_schema(member["items"])}
    return {**kept, "properties": members} if members else kept


class LongCallRunner:
    """Runs work for the time a call may take, reporting progress to the host once a second.

    *site* is named as the cause of the wait.
    """

    def __init__(self, site: str = "NCBI") -> None:
        self._site = site
        self._shared_work: SharedWork[Any] = SharedWork(_PROGRESS_INTERVAL_S)
        # Each is kept by the work it is about, for as long as that is under way.
        self._cooldown_by_call: WeakValueDictionary[Hashable, Cooldown] = WeakValueDictionary()

    def wait(
        self, call: Hashable, work: Callable[[], Result], progress: Callable[[], str] = str
    ) -> Result | None:
        """Return the result of *work*, or None if the work takes longer and continues.

        *call* tells which calls are the same: the next such one picks it up. *progress* says how
        far the work is, in a sentence; where it is silent, the site is blamed.
        """
        work = partial(self._get_cooldown(call).run, work)
        steps = int(MAX_ANSWER_S / _PROGRESS_INTERVAL_S)
        for step in range(1, steps + 1):
            result: Result | None = self._shared_work.wait_for_result(call, work)
            if result is not None:
                return result
            send_progress(step, steps, progress() or f"{self._site} keeps us waiting")
        return None

    def get_result(
        self, call: Hashable, work: Callable[[], Result], progress: Callable[[], str] = str
    ) -> Result:
        """Return the result of *work* (see `wait`).

        Raises
        ------
        Unreachable
            It is not there in time; with ``retry_after`` when the site asked us to wait.
        """
        hold = self._get_cooldown(call)
        result = self.wait(call, work, progress)
        if result is None:
            raise self._build_timeout_error(math.ceil(hold.get_seconds_left()), progress())
        return result

    def call_shared(
        self, function: Callable[..., Result], *args: Hashable, **options: Hashable
    ) -> Result:
        """Return ``function(*args, **options)``; equal calls share one run (see `get_result`)."""
        call = (function.__name__, *args, *sorted(options.items()))
        return self.get_result(call, lambda: function(*args, **options))

    def _get_cooldown(self, call: Hashable) -> Cooldown:
        """Return the cooldown that is shared by equal calls."""
        return self._cooldown_by_call.setdefault(call, Cooldown())

    def _build_timeout_error(self, seconds: int, progress: str) -> Unreachable:
        if not seconds:
            msg = progress or f"{self._site} keeps this request waiting"
            msg = f"{msg}; it goes on."
            return Unreachable(msg, "Call again with the same arguments in a minute.")
        msg = f"{self._site} asked us to wait; this request goes on after that."
        hint = f"Call again in {seconds} s with the same arguments."
        # Some say it with 503; that they named a time is what counts.
        return Unreachable(msg, hint, status=429, retry_after=float(seconds))


def send_progress(done: float, total: float, message: str) -> None:
    """Report progress to a host that asked for it, from a worker thread."""
    from anyio.from_thread import run
    from fastmcp.server.dependencies import get_context

    run(get_context().report_progress, done, total, message)


async def run_in_thread(work: Callable[[], Result]) -> Result:
    """Run *work* in a thread until it ends or the host cancels the call.

    A thread cannot be stopped from outside. The call is abandoned at once, and its `Cancellation`
    is set: its requests end at the socket, and no other follows.
    """
    from anyio import get_cancelled_exc_class, to_thread

    cancellation = Cancellation()
    try:
        return await to_thread.run_sync(cancellation.run_work, work, abandon_on_cancel=True)
    except get_cancelled_exc_class():
        cancellation.cancel()
        raise


def list_enabled_tools(library: Library) -> list[Tool]:
    """Return the tools of the toolsets in *library*'s settings, always in the same order."""
    return [
        tool
        for name in TOOLSETS
        if is_toolset_enabled(name, library)
        for tool in list_toolset_tools(name, library)
    ]


def is_toolset_enabled(toolset: str, library: Library) -> bool:
    """Return whether the settings name a toolset."""
    return bool({toolset, "all"} & {*library.settings.mcp_toolsets})


def list_toolset_tools(toolset: str, library: Library) -> list[Tool]:
    """Return the tools of one toolset, whether or not it is on."""
    modules = map(import_by_name, TOOLSETS[toolset])
    return [tool for module in modules for tool in module.tools(library)]
