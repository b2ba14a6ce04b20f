"""Passages of PMC's full texts: an index as that of PubMed's, and narrowed by the same facts.

PMC's files hold neither headings of MeSH nor publication types, and learn late of a retraction:
where there is a mirror of PubMed, too, a text is indexed with what its record there says. It is
indexed anew when the text is another one, or the record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..corpus.word_index import build_numbers_query
from ..system import safe_files
from .generations import (
    NAMES,
    Generation,
    Generations,
    explain_query_errors,
    open_duckdb,
    write_query_result,
)
from .passages import FACTS, PassageIndex, Snapshot
from .reading import explain_unreadable

if TYPE_CHECKING:
    from tantivy import Document

    from .manifest import SourceFile
    from .words import Changes

_COUNTED = """
    SELECT text.sequence, text.position,
           coalesce(record.sequence::BIGINT * 1000000 + record.position, 0) AS beside
    FROM read_parquet($live) AS text JOIN read_parquet($names) AS name USING (pmcid)
    LEFT JOIN {records} AS record ON record.pmid = name.pmid
    QUALIFY row_number() OVER (  -- a paper once, also where two articles name the same PMID
        PARTITION BY CASE WHEN name.pmid > 0 THEN name.pmid ELSE -pmcid END ORDER BY pmcid DESC
    ) = 1 ORDER BY 1, 2
"""
_RECORDS = "pubmed "
_NONE = "(SELECT 0 AS pmid, 0 AS sequence, 0 AS position WHERE false)"
_BESIDE = f"""
    SELECT text.sequence, text.position, {", ".join(f"row.{name}" for name in FACTS)}
    FROM read_parquet($counted) AS text JOIN read_parquet($parts) AS row
    ON row.sequence = text.beside // 1000000 AND row.position = text.beside % 1000000
    WHERE text.sequence IN (SELECT unnest($orders)) ORDER BY 1, 2
"""  # noqa: S608 - of constants


class TextPassageIndex(PassageIndex):
    """The index of the passages of a mirror of PMC."""

    of = "full_text"
    numbers = (*PassageIndex.numbers, "pmid")
    columns = (
        *("pmid", "doi", "pmcid", "version", "position"),
        *("title", "journal", "year", "retracted"),
    )
    identifying_columns = ("sequence", "position", "beside")

    @cached_property
    def _records_of(self) -> Generation | None:
        """The generation of PubMed that the index is made with; None without one."""
        return self._pubmed.get_published()

    @property
    def _pubmed(self) -> Generations:
        return Generations(self.generations.mirror, "pubmed")

    def write_counted_table(self, generation: Generation) -> Path:
        """The texts that count, each with the place of its record (0: none)."""
        place, beside = self.generations.folder / generation.name, self._records_of
        params = {"live": str(place / "live.parquet"), "names": str(place / NAMES)}
        if beside:
            params["records"] = str(self._pubmed.folder / beside.name / "live.parquet")
        query = _COUNTED.format(records="read_parquet($records)" if beside else _NONE)
        return self._write_rows("counted", query, params)

    def prepare_documents(self, changes: Changes) -> None:
        """Look up the records of the new texts, all in one go."""
        safe_files.delete_if_exists(self._facts_file)
        counted, orders = changes.counted, list(changes.new_rows)
        beside = self._records_of
        if orders and beside and (parts := self._find_record_parts(beside, orders, counted)):
            params = {"counted": str(counted), "parts": parts, "orders": orders}
            self._write_rows("facts", _BESIDE, params)

    def _find_record_parts(
        self, beside: Generation, orders: Sequence[int], counted: Path
    ) -> list[str]:
        query = """
            SELECT DISTINCT beside // 1000000 FROM read_parquet(?)
            WHERE beside > 0 AND sequence IN (SELECT unnest(?))
        """
        with closing(open_duckdb(self.generations.mirror)) as db, explain_unreadable():
            wanted = {row[0] for row in db.execute(query, [str(counted), list(orders)]).fetchall()}
        files = self._pubmed.list_files(beside)
        return [
            str(file.get_part_path(self._pubmed.mirror)) for file in files if file.order in wanted
        ]

    def list_digests(self, files: Iterable[SourceFile]) -> dict[str, str]:
        """Return digests of the parts, including the parts of PubMed's records."""
        beside = self._records_of
        records = self._pubmed.list_files(beside) if beside else []
        return super().list_digests(files) | {
            f"{_RECORDS}{file.order}": file.content_digest for file in records
        }

    def _find_rows_of_parts(self, renewed: set[str], counted: Path) -> dict[int, Any]:
        """Rows whose record is in such a part, too, with all others of their file."""
        query = """
            SELECT DISTINCT sequence FROM read_parquet(?)
            WHERE beside > 0 AND beside // 1000000 IN (SELECT unnest(CAST(? AS BIGINT[])))
        """
        told = [name.removeprefix(_RECORDS) for name in renewed if name.startswith(_RECORDS)]
        with closing(open_duckdb(self.generations.mirror)) as db, explain_unreadable():
            found = db.execute(query, [str(counted), [int(order) for order in told]]).fetchall()
        return super()._find_rows_of_parts(renewed | {str(order) for (order,) in found}, counted)

    def _write_rows(self, name: str, query: str, params: dict[str, Any]) -> Path:
        """Write the rows of a query to a file in the index's folder."""
        path = self.folder / f"{name}.parquet"
        with closing(open_duckdb(self.generations.mirror)) as db, explain_query_errors("The parts"):
            write_query_result(db, query, path, params)
        return path

    @property
    def _facts_file(self) -> Path:
        return self.folder / "facts.parquet"

    def get_facts(self) -> dict[str, str]:
        """Which records it was made with."""
        return {"records": self._records_of.name if self._records_of else ""}

    def complete_rows(
        self, file: SourceFile, rows: Sequence[dict[str, Any]]
    ) -> Iterator[dict[str, Any]]:
        """Yield texts with the facts of their records in PubMed."""
        beside = self._read_pubmed_records(file.order)
        for row in rows:
            facts = beside.get(row["position"], {})
            known = {**dict.fromkeys(FACTS), **row}
            yield (
                known
                | {name: value for name, value in facts.items() if value}
                | {
                    "pmcid": f"PMC{row['pmcid']}",
                    "file": f"PMC{row['pmcid']}.{row['version']}",
                    "retracted": row["retracted"] or facts.get("retracted", False),
                }
            )

    def _read_pubmed_records(self, order: int) -> dict[int, dict[str, Any]]:
        """Return PubMed's facts about the texts of a file, by their positions."""
        from pyarrow import parquet

        if not self._facts_file.exists():
            return {}
        with explain_unreadable():
            table = parquet.read_table(self._facts_file, filters=[("sequence", "=", order)])
        return {row.pop("position"): row for row in table.drop_columns("sequence").to_pylist()}

    def add_fields(
        self, document: Document, record: Mapping[str, Any], row: Mapping[str, Any]
    ) -> None:
        """Add the PMID to the first passage of a text: one passage finds the text by it."""
        is_first = row["ordinal"] == 0 and record["pmid"]
        document.add_integer("pmid", record["pmid"] if is_first else 0)

    def describe_gaps(self, state: Mapping[str, Any], generation: Generation) -> Iterator[str]:
        """Yield what an index in this state lacks of a generation, or of PubMed's."""
        yield from super().describe_gaps(state, generation)
        beside = self._pubmed.get_published()
        if beside and "target" not in state and state.get("records", "") != beside.name:
            yield "What PubMed says of full texts is new since they were indexed: mirror index"


def find_full_texts(snapshot: Snapshot, pmids: Iterable[str]) -> set[str]:
    """Return the papers whose full text a mirror of PMC contains."""
    wanted = sorted({int(pmid) for pmid in pmids if pmid.isdecimal()})
    if not wanted:
        return set()
    query = build_numbers_query(snapshot.words.index.schema, "pmid", wanted)
    found = snapshot.find_documents(query, len(wanted) + 100)
    values = snapshot.get_field_values("pmid", found)
    return {str(pmid) for pmid in values if pmid}
