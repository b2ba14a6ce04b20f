"""The confusion table as benchmarks/README.md shows it."""

from __future__ import annotations

from pathlib import Path

from tests.quality.lab.table import Row, totals
from utils.model.paper import Media

PAGE = Path(__file__).resolve().parents[3] / "benchmarks" / "README.md"
BEGIN, END = "<!-- lab: measured -->", "<!-- /lab -->"
MEDIA: tuple[Media, ...] = ("jats", "html", "markdown", "pdf")


def written(table: list[Row]) -> str:
    """Totals, a line a kind with mistakes: wrong of all in every medium; seconds a document."""
    lines = ["| half | | wrong of | share |", "|---|---|---|---|"]
    for line in totals(table):
        half, way, judged, missed, of, number, share = line.split()
        lines.append(f"| {half} | {way} {judged} | {missed} {of} {number} | {share} |")
    by_name: dict[str, dict[Media, Row]] = {}
    for row in table:
        by_name.setdefault(row.kind.name, {})[row.medium] = row
    wrong = {n: rows for n, rows in by_name.items() if any(r.misses for r in rows.values())}
    lines += ["", f"Never wrong: {len(by_name) - len(wrong)} of {len(by_name)} kinds. The others:"]
    lines += ["", f"| kind | half | {' | '.join(MEDIA)} |", f"|---|---|{'---|' * len(MEDIA)}"]
    for name, of_kind in wrong.items():
        kind = next(iter(of_kind.values())).kind
        cells = (f"{r.misses}/{r.number}" if (r := of_kind.get(m)) else "" for m in MEDIA)
        title = f"**whole:** {name}" if kind.whole else name
        lines.append(f"| {title} | {kind.half} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", seconds(table)])


def seconds(table: list[Row]) -> str:
    """How long reading and judging took, by medium."""
    told = []
    for medium in MEDIA:
        some = [row for row in table if row.medium == medium]
        number = sum(row.number for row in some)
        if number:
            told.append(f"{medium} {sum(row.seconds for row in some) / number:.3f}")
    return f"Seconds a document: {', '.join(told)}."


def write(table: list[Row]) -> None:
    """Put the table between its marks, which somebody must have set."""
    page = PAGE.read_text("utf-8")
    before, found, rest = page.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise SystemExit(f"{PAGE.name} has no place for the table: {BEGIN} … {END}")
    PAGE.write_text(f"{before}{BEGIN}\n{written(table)}\n{END}{after}", "utf-8")
