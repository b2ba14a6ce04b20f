"""Statements that should do harm: to the file, to other files, to whoever reads them.

None may be answered with rows. ``{elsewhere}`` stands for a path outside the dataset that must
neither be read nor come into being. What may be answered within bounds: `.endless_statements`.
"""

from tests.fixtures import fixture_text

_WRITES = fixture_text("entrez/datasets/hostile_statements_writes.sql")
_ATTACHES = fixture_text("entrez/datasets/hostile_statements_attaches.sql")
_PRAGMAS = fixture_text("entrez/datasets/hostile_statements_pragmas.sql")
_REACHING = fixture_text("entrez/datasets/hostile_statements_reaching.sql")
_SEVERAL = fixture_text("entrez/datasets/hostile_statements_several.sql")
_TRICKS = (
    "/* SELECT */ DELETE FROM gene", "-- SELECT 1\nDELETE FROM gene",
    "--\rDELETE FROM gene\nWHERE 1", "/**/DELETE/**/FROM/**/gene", "/* /* */ DELETE FROM gene",
    "/*! DELETE FROM gene */", "dElEtE fRoM gEnE", "\ufeffDELETE FROM gene",
    "\t\n\v\f\r DELETE\tFROM\ngene", 'DELETE FROM "gene"', "DELETE FROM [gene]",
    "DELETE FROM `gene`", "DELETE FROM 'gene'", "DELETE FROM main.gene",
    'DELETE FROM "main"."gene"', "SELECT 1 -- \n; DELETE FROM gene",
    "SELECT 1 /* unclosed ; DELETE FROM gene\n*/ ; DELETE FROM gene",
    "SELECT '\\'; DELETE FROM gene; --'", "SELECT ''';DELETE FROM gene;--",
    'SELECT "a""; DELETE FROM gene; --"', "SELECT 'a' 'b'; DELETE FROM gene", "SELECT `a``b`",
    "SELECT [a]]b] FROM gene", "SELECT x'zz'", "SELECT 1\0; DELETE FROM gene",
    "SELECT 1;\0DELETE FROM gene", "\0DELETE FROM gene", "ＤＥＬＥＴＥ FROM gene",
    "DELETE\u00a0FROM gene", "SELECT 1; \u2028DELETE FROM gene", "EXEC('DELETE FROM gene')",
    "CALL system('id')", "SET a = 1", "DO 1", "GRANT ALL ON gene TO a",
    "SELECT $a; DELETE FROM gene", "SELECT ?1 UNION SELECT @a UNION SELECT :b",
    "SELECT " + "(" * 5_000 + "1" + ")" * 5_000, "SELECT " + "-" * 1 + " -".join("1" * 400),
    "SELECT " + "NOT " * 20_000 + "1", "SELECT 1" + "+1" * 40_000,
    "SELECT 1" + " UNION ALL SELECT 1" * 5_000,
    "SELECT * FROM " + ",".join(f"gene g{number}" for number in range(100)),
    "SELECT '" + "a" * 200_000 + "'", "SELECT " + "'\"" * 40_000, "/*" * 50_000, "[" * 99_000,
    '"' * 99_999, "'" * 99_999, 'SELECT "' + "a" * 90_000 + '"',
    "SELECT " + "a" * 90_000 + " FROM gene", "SELECT 1 FROM " + "b" * 90_000,
    "SELECT " + "f" * 90_000 + "(1)", "SELECT printf('%.*c', 2000000000, 'a')",
    "SELECT replace(printf('%.*c', 30000000, 'a'), 'a', 'bbbb')",
    "SELECT json_group_array(printf('%.*c', 9000000, 'a')) FROM gene",
)  # fmt: skip


def _lines(text: str) -> list[str]:
    return [line for line in text.strip().splitlines() if line]


REFUSED = (
    *_lines(_WRITES), *_lines(_ATTACHES), *_lines(_PRAGMAS), *_lines(_REACHING), *_lines(_SEVERAL),
    *_TRICKS,
)  # fmt: skip
