"""Records and passages as columns: what stands in the Parquet files of a mirror.

One row a record or deletion, with typed columns that every tool reads (DuckDB, polars, pandas,
Spark, R). Names and meanings are those of `..model.paper.Paper` and `..model.passage.Passage`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ..model.paper import Author, Notice, Paper
from ..model.passage import Passage

if TYPE_CHECKING:
    import pyarrow as pa

_TEXTS = (
    *("title", "abstract", "journal", "journal_abbreviation", "issn", "volume", "issue", "pages"),
    *("published", "entered", "revised", "released", "vernacular_title"),
)
_LISTS = ("languages", "publication_types", "mesh", "keywords")
_AUTHOR = ("family", "given", "initials", "suffix", "collective", "orcid")
_NOTICE = ("kind", "reference", "pmid")
_REPEATED = ("journal", "journal_abbreviation", "issn", "published", "entered", "revised")
"""Columns, beside those of lists, in which few values stand again and again."""


@cache
def make_record_schema() -> pa.Schema:
    """Return the columns of records.

    ``sequence`` is the file's place as a number, ``position`` the row's in it; ``version`` that of
    the PMID (of most 1); ``cited`` the PMIDs in its list of references, as PubMed knows them.
    A row that is ``deleted`` has no more than the first five.
    """
    import pyarrow as pa

    texts, text = pa.list_(pa.string()), pa.string()
    authors = pa.struct([*((name, text) for name in _AUTHOR), ("affiliations", texts)])
    return pa.schema(
        [
            ("sequence", pa.int32()),
            ("position", pa.int32()),
            ("pmid", pa.int32()),
            ("version", pa.int16()),
            ("deleted", pa.bool_()),
            ("doi", text),
            ("pmcid", text),
            ("arxiv", text),
            *((name, text) for name in _TEXTS),
            ("year", pa.int16()),
            *((name, texts) for name in _LISTS),
            ("authors", pa.list_(authors)),
            ("other_abstracts", pa.list_(pa.struct([("kind", text), ("text", text)]))),
            ("notices", pa.list_(pa.struct([(name, text) for name in _NOTICE]))),
            ("reference_count", pa.int32()),
            ("cited", pa.list_(pa.int32())),
            ("retracted", pa.bool_()),
        ]
    )


@cache
def make_passage_schema() -> pa.Schema:
    """Return the columns of passages: file and row of the record; ``digest`` is a SHA-256."""
    import pyarrow as pa

    return pa.schema(
        [
            ("sequence", pa.int32()),
            ("position", pa.int32()),
            ("pmid", pa.int32()),
            ("ordinal", pa.int16()),
            ("chunk_id", pa.string()),
            ("section", pa.string()),
            ("start", pa.int32()),
            ("end", pa.int32()),
            ("text", pa.string()),
            ("digest", pa.binary(32)),
        ]
    )


def find_dictionary_columns(schema: pa.Schema) -> list[str]:
    """Return the columns with few distinct values, which are stored with a dictionary."""
    lists = [f"{name}.list.element" for name in ("languages", "publication_types", "mesh")]
    wanted = {*_REPEATED, "section", "chunk_id", "sequence"}
    return [name for name in schema.names if name in wanted] + (
        lists if "languages" in schema.names else []
    )


Row = tuple[int, int, int, Sequence[int], Paper | None]
"""Position, PMID, its version, what it cites, and the record; None where it is deleted."""


def make_record_batch(order: int, rows: Sequence[Row]) -> pa.RecordBatch:
    """Return the rows of a source file as columns."""
    import pyarrow as pa

    papers = [paper for *_, paper in rows]
    schema = make_record_schema()
    made: dict[str, Any] = {
        "sequence": [order] * len(rows),
        "position": [position for position, *_ in rows],
        "pmid": [pmid for _, pmid, *_ in rows],
        "version": [version for _, _, version, *_ in rows],
        "deleted": [paper is None for paper in papers],
        **{
            name: _map_papers(papers, _make_text_getter(f"ids.{name}"))
            for name in ("doi", "pmcid", "arxiv")
        },
        **{name: _map_papers(papers, _make_text_getter(name)) for name in _TEXTS},
        "year": _map_papers(papers, lambda paper: int(paper.year) if paper.year else None),
        **{name: _map_papers(papers, attrgetter(name)) for name in _LISTS},
        "authors": _make_structs(papers, "authors", _make_author_columns),
        "other_abstracts": _make_structs(papers, "other_abstracts", _make_abstract_columns),
        "notices": _make_structs(papers, "notices", _make_notice_columns),
        "reference_count": _map_papers(papers, lambda paper: paper.reference_count),
        "cited": [None if paper is None else cited for *_, cited, paper in rows],
        "retracted": _map_papers(papers, lambda paper: paper.retracted),
    }  # fmt: skip
    arrays = [
        made[field.name]
        if isinstance(made[field.name], pa.Array)
        else pa.array(made[field.name], field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _make_text_getter(name: str) -> Callable[[Any], str | None]:
    """Return a function that takes a text of a paper; None where the text is empty."""
    value = attrgetter(name)
    return lambda paper: value(paper) or None


def _map_papers(papers: Iterable[Paper | None], value: Callable[[Any], Any]) -> list[Any]:
    return [None if paper is None else value(paper) for paper in papers]


def _make_structs(
    papers: Sequence[Paper | None], name: str, columns: Callable[[list[Any]], list[pa.Array]]
) -> pa.ListArray:
    """Return lists of structures from flat columns, which is much faster than from dicts."""
    import pyarrow as pa

    kind = make_record_schema().field(name).type
    ends, flat = [0], list[Any]()
    for paper in papers:
        flat.extend(getattr(paper, name) if paper else ())
        ends.append(len(flat))
    fields = list(kind.value_type)
    values = pa.StructArray.from_arrays(columns(flat), fields=fields)
    empty = pa.array([paper is None for paper in papers])
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values, type=kind, mask=empty)


def _make_author_columns(authors: list[Author]) -> list[pa.Array]:
    import pyarrow as pa

    texts = [
        pa.array([getattr(author, name) or None for author in authors], pa.string())
        for name in _AUTHOR
    ]
    where = pa.array([author.affiliations for author in authors], pa.list_(pa.string()))
    return [*texts, where]


def _make_abstract_columns(pairs: list[tuple[str, str]]) -> list[pa.Array]:
    import pyarrow as pa

    return [pa.array([pair[at] for pair in pairs], pa.string()) for at in (0, 1)]


def _make_notice_columns(notices: list[Notice]) -> list[pa.Array]:
    import pyarrow as pa

    return [
        pa.array([getattr(notice, name) or None for notice in notices], pa.string())
        for name in _NOTICE
    ]


def make_passage_batch(
    order: int, rows: Sequence[tuple[int, int | None, Passage]]
) -> pa.RecordBatch:
    """Return passages with their record's position and PMID, as columns."""
    import pyarrow as pa

    passages = [passage for *_, passage in rows]
    schema = make_passage_schema()
    made: dict[str, list[Any]] = {
        "sequence": [order] * len(rows),
        "position": [position for position, *_ in rows],
        "pmid": [pmid for _, pmid, _ in rows],
        "digest": [bytes.fromhex(passage.digest) for passage in passages],
        **{
            name: [getattr(passage, name) for passage in passages]
            for name in ("ordinal", "chunk_id", "section", "start", "end", "text")
        },
    }
    arrays = [pa.array(made[field.name], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def build_paper(row: dict[str, Any]) -> Paper:
    """Return the paper in a row of a part."""
    from ..model.identifiers import Ids

    texts: dict[str, Any] = {name: row[name] or "" for name in _TEXTS}
    notices: list[Any] = [[one[name] or "" for name in _NOTICE] for one in row["notices"] or ()]
    lists: dict[str, Any] = {name: tuple(row[name] or ()) for name in _LISTS}
    names = {name: row[name] or "" for name in ("doi", "pmcid", "arxiv")}
    return Paper(
        ids=Ids(pmid=str(row["pmid"]), **names),
        **texts,
        **lists,
        authors=tuple(_build_author(author) for author in row["authors"] or ()),
        other_abstracts=tuple((one["kind"], one["text"]) for one in row["other_abstracts"] or ()),
        notices=tuple(Notice(*notice) for notice in notices),
        reference_count=row["reference_count"] or 0,
    )


def _build_author(row: dict[str, Any]) -> Author:
    texts = {name: row[name] or "" for name in _AUTHOR}
    return Author(**texts, affiliations=tuple(row["affiliations"] or ()))
