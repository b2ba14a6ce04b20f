"""What the tools promise to return, as small as a schema can be: every host reads all of it."""

from __future__ import annotations

from typing import Any

from ..identifiers import Ids

_S: dict[str, Any] = {"type": "string"}
_B: dict[str, Any] = {"type": "boolean"}
_I: dict[str, Any] = {"type": "integer"}
_NEXT: dict[str, Any] = {"type": ["integer", "null"]}


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _list(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": of}


def _papers(names: str, **more: dict[str, Any]) -> dict[str, Any]:
    return _list(_object(**dict.fromkeys(names.split(), _S), **more))


def _search(papers: dict[str, Any]) -> dict[str, Any]:
    return _object(
        query=_S, effective_query=_S, total=_I, next_start=_NEXT, warnings=_list(_S), papers=papers
    )


_MINIMAL = "pmid title first_author year journal doi pmcid"
_FULL = "pmid title abstract authors year journal doi pmcid"
_FLAGS = {"publication_types": _list(_S), "retracted": _B}

SEARCH = _search(_papers(_FULL, **_FLAGS))
SEARCH_LR = _search(_papers(f"{_FULL} ligand receptor", **_FLAGS))
SEARCH_MINIMAL = _search(_papers(_MINIMAL))
DOWNLOAD = _object(
    success=_B,
    file_path=_S,
    source=_S,
    message=_S,
    kind=_S,
    via=_S,
    verdict=_S,
    license=_S,
    retracted=_B,
    attempts=_list(_object(source=_S, outcome=_S, detail=_S)),
)
READ = _object(
    title=_S,
    kind=_S,
    outline=_list(_object(heading=_S, chars=_I)),
    text=_S,
    next_start=_NEXT,
)
LIST = _object(total=_I, papers=_papers(f"{_MINIMAL} kind license file_path"), next_start=_NEXT)
HARVEST = _object(
    job_id=_S,
    state=_S,
    counts=_object(
        **dict.fromkeys(["requested", "full_text", "abstract", "failed", "pending"], _I)
    ),
    eta_s={"type": ["number", "null"]},
    report=_S,
)

STILL = "Still downloading: call download_paper again with the same arguments in a minute."


def still_downloading(ids: Ids) -> dict[str, Any]:
    """The download contract's answer when the work goes on after the call."""
    texts = dict.fromkeys(("file_path", "source", "kind", "via", "verdict", "license"), "")
    return {
        **texts,
        "success": False,
        "message": f"{ids}. {STILL}",
        "retracted": False,
        "attempts": [],
    }
