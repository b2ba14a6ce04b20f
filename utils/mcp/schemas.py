"""Output schemas of the tools, as small as can be: every host reads all of them.

Input and output schemas of toolset ``literature``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from ..model.identifiers import Ids
from ..model.sites import SEARCHED

TEXT: dict[str, Any] = {"type": "string"}
FLAG: dict[str, Any] = {"type": "boolean"}
NUMBER: dict[str, Any] = {"type": "integer"}
NEXT: dict[str, Any] = {"type": ["integer", "null"]}
LAST = 1_000_000_000  # no list is that long
Hundred = Annotated[int, Field(ge=1, le=100, description="Most papers.")]
ArxivSort = Annotated[Literal["relevance", "pub_date", "update_date"], Field(description="Order.")]


def compact(schema: Any) -> Any:
    """An input schema as hosts see it, without what says nothing to a model.

    Bounds that no call reaches, and null as another form of leaving a parameter out, cost as many
    tokens as a description. Validation has them all the same.
    """
    if isinstance(schema, list):
        return [compact(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    branches = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if len(branches) == 1:
        rest = {name: value for name, value in schema.items() if name != "anyOf"}
        return compact({**branches[0], **rest})
    return {
        name: compact(value)
        for name, value in schema.items()
        if not (name == "default" and value is None)
        and not (name in ("minimum", "maximum") and schema.get("maximum") == LAST)
    }


def opened(schema: Any) -> Any:
    """An input schema that does not say that it is closed; the tool is all the same.

    Google's SDK fails at ``additionalProperties: false`` of anybody's tool (google-genai 3.4 takes
    the value for a schema), and every host reads it once a tool.
    """
    if isinstance(schema, list):
        return [opened(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    closed = schema.get("additionalProperties") is False
    return {
        name: opened(one)
        for name, one in schema.items()
        if not (closed and name == "additionalProperties")
    }


def record(**properties: dict[str, Any]) -> dict[str, Any]:
    """An object with these members, all required."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def also(names: str, schema: dict[str, Any]) -> dict[str, Any]:
    """*schema* with optional members of these names, whose types their names tell."""
    return {**schema, "properties": {**schema["properties"], **{n: {} for n in names.split()}}}


def some(**properties: dict[str, Any]) -> dict[str, Any]:
    """An object with these members, all optional."""
    return {"type": "object", "properties": properties}


def texts(names: str) -> dict[str, Any]:
    """An object of texts only, with *names* required: each name stands in the schema once."""
    return {"type": "object", "required": names.split(), "additionalProperties": TEXT}


def texts_and(names: str, **more: dict[str, Any]) -> dict[str, Any]:
    """An object with texts under *names*, and the members *more*; all required."""
    return record(**dict.fromkeys(names.split(), TEXT), **more)


def loose(names: str, **typed: dict[str, Any]) -> dict[str, Any]:
    """An object that requires all: *names*, whose types their names tell, and the members typed."""
    members: dict[str, Any] = {name: {} for name in names.split()} | typed
    return {"type": "object", "properties": members, "required": list(members)}


def rows(of: dict[str, Any]) -> dict[str, Any]:
    """A list of values of one schema."""
    return {"type": "array", "items": of}


def named(names: str) -> dict[str, Any]:
    """An object with members of these names, whose types their names tell."""
    return {"type": "object", "required": names.split()}


SEARCH = named("query effective_query total next_start warnings papers")
DOWNLOAD = named(
    "success file_path source message kind version preprint_version via verdict license retracted"
    " attempts"
)
READ = also(
    "title doubts warnings objects_shown_by",
    loose("kind version outline objects", text=TEXT, next_start=NEXT),
)
LIST = also("warnings", record(total=NUMBER, papers=rows({"type": "object"}), next_start=NEXT))
# Its members are those of `.harvest_answers.Status`: both tools would spell them out.
HARVEST: dict[str, Any] = {"type": "object", "required": ["job_id", "state", "counts", "next"]}
STILL = "Still downloading: call download_paper again with the same arguments in a minute."


def still_downloading(ids: Ids) -> dict[str, Any]:
    """The download contract's answer when the work goes on after the call."""
    names = "file_path source kind version preprint_version via verdict license"
    return {
        **dict.fromkeys(names.split(), ""),
        "success": False,
        "message": f"{ids}. {STILL}",
        "retracted": False,
        "attempts": [],
    }


if TYPE_CHECKING:
    SourceName = str
else:
    SourceName = Literal[tuple(SEARCHED)]
MergedSort = Annotated[Literal["relevance", "pub_date"], Field(description="Order.")]
_WORDS = rows(TEXT)
PREPRINT = named(
    "id title authors abstract published updated url pdf_url primary_category categories doi"
    " retracted"
)
PREPRINTS = record(
    total=NUMBER, papers=rows(PREPRINT), next_start=NEXT, effective_query=TEXT, warnings=_WORDS
)
_SCHOLAR = (
    "paper_id title abstract year authors citation_count reference_count"
    " influential_citation_count url venue publication_date doi pmid pmcid arxiv_id open_access_pdf"
)
SCHOLAR = named(_SCHOLAR)
SCHOLARS = record(
    total=NEXT, papers=rows(named(_SCHOLAR)), next_start=NEXT, token=TEXT, warnings=_WORDS
)
BIBTEX = texts_and("bibtex")
GATHERED = also(
    "next_start",
    record(
        query=TEXT,
        papers=rows(
            named(
                "title abstract authors year journal pmid doi pmcid arxiv_id s2_id version"
                " publication_types retracted sources same linked"
            )
        ),
        sources=rows(named("source outcome total returned query message warnings")),
        warnings=_WORDS,
    ),
)
