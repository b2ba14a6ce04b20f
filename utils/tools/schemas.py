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
Hundred = Annotated[int, Field(ge=1, le=100)]
Year = Annotated[int, Field(ge=0, le=3000, description="0: open")]
ArxivSort = Literal["relevance", "lastUpdatedDate", "submittedDate"]


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


def rows(of: dict[str, Any]) -> dict[str, Any]:
    """A list of values of one schema."""
    return {"type": "array", "items": of}


def named(names: str) -> dict[str, Any]:
    """An object with members of these names, whose types their names tell."""
    return {"type": "object", "required": names.split()}


def _search(names: str) -> dict[str, Any]:
    return record(
        query=TEXT,
        effective_query=TEXT,
        total=NUMBER,
        next_start=NEXT,
        warnings=rows(TEXT),
        papers=rows(named(names)),
    )


_MINIMAL = "pmid title first_author year journal doi pmcid"
_FULL = "pmid title abstract authors year journal doi pmcid publication_types retracted"
SEARCH = _search(_FULL)
SEARCH_LR = _search(f"{_FULL} ligand receptor")
SEARCH_MINIMAL = _search(_MINIMAL)
DOWNLOAD = named(
    "success file_path source message kind version preprint_version via verdict license retracted"
    " attempts"
)
READ = also(
    "title doubts warnings objects_shown_by",
    record(
        kind=TEXT,
        version=TEXT,
        outline=rows(some(heading=TEXT, chars=NUMBER, roles=TEXT)),
        objects=rows({"type": "object"}),
        text=TEXT,
        next_start=NEXT,
    ),
)
LIST = also(
    "warnings",
    record(
        total=NUMBER,
        papers=rows(named(f"{_MINIMAL} kind version preprint_version license file_path")),
        next_start=NEXT,
    ),
)
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
MergedSort = Literal["relevance", "pub_date"]
_OR_NOTHING: dict[str, Any] = {"type": ["string", "null"]}
_WORDS = rows(TEXT)
_SHARE: dict[str, Any] = {"type": "number"}
PREPRINT = also(
    "author_count",
    texts_and(
        "id title abstract published updated url pdf_url primary_category doi",
        authors=_WORDS,
        categories=_WORDS,
        retracted=FLAG,
    ),
)
PREPRINTS = record(
    total=NUMBER, papers=rows(PREPRINT), next_start=NEXT, effective_query=TEXT, warnings=_WORDS
)
_SCHOLAR = texts_and(
    "paper_id title url doi pmid pmcid arxiv_id open_access_pdf",
    abstract=_OR_NOTHING,
    venue=_OR_NOTHING,
    publication_date=_OR_NOTHING,
    year=NEXT,
    authors=rows(texts_and("author_id name")),
    citation_count=NEXT,
    reference_count=NEXT,
    influential_citation_count=NEXT,
)
SCHOLAR = also("tldr author_count", _SCHOLAR)
SCHOLARS = record(
    total=NEXT,
    papers=rows(named(" ".join(_SCHOLAR["required"]))),
    next_start=NEXT,
    token=TEXT,
    warnings=_WORDS,
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
        sources=rows(
            texts_and("source outcome query message", total=NEXT, returned=NUMBER, warnings=_WORDS)
        ),
        warnings=_WORDS,
    ),
)
