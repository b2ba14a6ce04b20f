"""Statements that run for ever, swell, or try to; and odd ones that only read.

They may be answered, if within the bounds.
"""

from __future__ import annotations

_COUNT = "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n)"
BOUNDED = (
    f"{_COUNT} SELECT count(*) FROM n",
    f"{_COUNT} SELECT i FROM n",
    f"{_COUNT} SELECT i FROM n WHERE i < 0",
    f"{_COUNT} SELECT i FROM n ORDER BY i DESC",
    f"{_COUNT} SELECT group_concat(i) FROM n",
    f"{_COUNT} SELECT json_group_array(i) FROM n",
    f"{_COUNT} SELECT DISTINCT i % 3 FROM n",
    f"{_COUNT} SELECT i, count(*) FROM n GROUP BY i",
    f"{_COUNT} SELECT sum(i) OVER (ORDER BY i) FROM n",
    f"{_COUNT} SELECT * FROM n a, n b",
    f"{_COUNT} SELECT 1 FROM gene WHERE uid IN (SELECT i FROM n)",
    f"{_COUNT} SELECT 1 WHERE EXISTS (SELECT 1 FROM n WHERE i = -1)",
    f"{_COUNT} SELECT i FROM n LIMIT -1 OFFSET 1000000000",
    "WITH RECURSIVE n(i) AS (VALUES(1) UNION SELECT i + 1 FROM n) SELECT max(i) FROM n",
    "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i FROM n) SELECT count(*) FROM n",
    (
        "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n UNION ALL SELECT i + 2 "
        "FROM n) SELECT count(*) FROM n"
    ),
    "WITH RECURSIVE n(t) AS (VALUES('a') UNION ALL SELECT t || t FROM n) SELECT length(t) FROM n",
    (
        "WITH RECURSIVE n(t) AS (VALUES('a') UNION ALL SELECT t || t FROM n WHERE "
        "length(t) < 9000000) SELECT * FROM n a, n b, n c"
    ),
    (
        "WITH RECURSIVE n(i, t) AS (VALUES(1, 'a') UNION ALL SELECT i + 1, hex(t) FROM n) "
        "SELECT max(length(t)) FROM n"
    ),
    (
        "WITH a AS (SELECT * FROM gene, gene_alias), b AS (SELECT * FROM a, a c), d AS (SELECT "
        "1 FROM b, b e) SELECT count(*) FROM d"
    ),
    (
        "WITH a(i) AS (VALUES(1),(2),(3),(4),(5),(6),(7),(8),(9),(10)), b AS (SELECT x.i FROM a x, "
        "a y, a z), c AS (SELECT x.i FROM b x, b y, b z) SELECT count(*) FROM c x, c y"
    ),
    "SELECT count(*) FROM gene a, gene b, gene c, gene d, gene e, gene f, gene g",
    "SELECT * FROM gene a, gene b, gene c, gene d, gene e, gene f ORDER BY a.name || f.name",
    "SELECT * FROM gene a CROSS JOIN gene b CROSS JOIN gene c CROSS JOIN gene d",
    (
        "SELECT DISTINCT a.name, b.name, c.name, d.name, e.name FROM gene a, gene b, gene c, "
        "gene d, gene e"
    ),
    "SELECT a.uid, group_concat(b.description) FROM gene a, gene b, gene c, gene d GROUP BY 1",
    "SELECT (SELECT count(*) FROM gene b, gene c, gene d, gene e, gene f) FROM gene",
    (
        "SELECT 1 FROM gene a JOIN gene b ON a.name <> b.name JOIN gene c ON c.name LIKE "
        "'%' || a.name || '%' JOIN gene d ON d.description GLOB '*' || c.name || '*' JOIN gene e "
        "JOIN gene f WHERE f.uid < 0"
    ),
    (
        "SELECT sum(a.weight * b.weight) OVER (ORDER BY c.uid ROWS BETWEEN UNBOUNDED PRECEDING AND "
        "UNBOUNDED FOLLOWING) FROM gene a, gene b, gene c, gene d"
    ),
    "SELECT "
    + ", ".join(f"(SELECT count(*) FROM gene a{n}, gene b{n}, gene c{n})" for n in range(60)),
    "SELECT * FROM " + " NATURAL JOIN ".join(f"gene g{n}" for n in range(40)),
    "SELECT * FROM " + " JOIN ".join(f"gene g{n}" for n in range(60)),
    "SELECT printf('%.*c', 30000000, 'a') FROM gene",
    "SELECT hex(printf('%.*c', 15000000, 'a')) FROM gene a, gene b",
    "SELECT length(replace(printf('%.*c', 5000000, 'a'), 'a', 'bbbbb')) FROM gene a, gene b",
    "SELECT printf('%.*c', 1000000, 'a') LIKE '%a%a%a%a%a%a%a%a%a%a%a%a%b'",
    "SELECT printf('%.*c', 50000, 'a') LIKE '" + "%a_" * 150 + "b'",
    "SELECT printf('%.*c', 1000000, 'a') GLOB '" + "*a" * 200 + "b'",
    "SELECT instr(printf('%.*c', 9000000, 'a'), printf('%.*c', 4000000, 'a') || 'b')",
    "SELECT trim(printf('%.*c', 9000000, 'a'), printf('%.*c', 20000, 'b') || 'a')",
    "SELECT json(printf('%.*c', 900000, '['))",
    "SELECT json_extract('{\"a\":' || printf('%.*c', 5000000, '1') || '}', '$.a')",
    "SELECT * FROM json_each('[' || printf('%.*c', 2000000, '1') || ']')",
    (
        "SELECT count(*) FROM json_tree('[' || substr(replace(printf('%.*c', 300000, 'a'), 'a', "
        "',1'), 2) || ']') a, gene b, gene c"
    ),
    "SELECT json_patch('{}', '{}') FROM gene a, gene b, gene c, gene d, gene e",
    "SELECT printf('%*d', 2000000000, 1)",
    "SELECT printf('%.2000000000f', 1.5)",
    "SELECT printf('%s%s%s', 1)",
    "SELECT printf('%n')",
    "SELECT printf('%!.30000000f', 1e300)",
    "SELECT strftime('" + "%Y" * 40_000 + "', 'now')",
    "SELECT date('now', '+999999999999 days')",
    "SELECT round(1.5, 2000000000)",
    "SELECT substr('a', -9223372036854775808, 9223372036854775807)",
    "SELECT abs(-9223372036854775808)",
    "SELECT -9223372036854775808 / -1, -9223372036854775808 % -1, 1 / 0, 1 % 0",
    "SELECT 9e999 - 9e999, 9e999 * 0, 1 << 9223372036854775807, 1 >> -9223372036854775808",
    "SELECT char(" + ",".join(["1114111"] * 120) + ")",
    "SELECT unicode(''), unicode(x'ff'), quote(x'ff'), hex(9e999), soundex(x'00')",
    "SELECT nth_value(uid, 1) OVER (ORDER BY uid ROWS 9223372036854775807 PRECEDING) FROM gene",
    "SELECT ntile(9223372036854775807) OVER () FROM gene",
    "SELECT group_concat(description, printf('%.*c', 1000000, 'a')) FROM gene",
    "SELECT * FROM gene LIMIT 9223372036854775807 OFFSET -9223372036854775808",
    "SELECT * FROM gene ORDER BY random(), random(), random()",
    "SELECT random() FROM gene a, gene b, gene c",
    "WITH a AS (SELECT 1 FROM a) SELECT * FROM a",
    "WITH a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT * FROM a",
    "WITH sqlite_schema AS (SELECT 'x' AS name) SELECT name FROM sqlite_schema",
    "WITH gene AS (SELECT 1 AS uid) SELECT uid FROM gene",
    "WITH pragma_database_list AS (SELECT 1) SELECT count(*) FROM pragma_database_list",
    "SELECT count(*) FROM pragma_journal_mode",
    "SELECT * FROM pragma_table_list",
    "PRAGMA table_info('gene'')')",
    "PRAGMA table_info = gene",
    "PRAGMA main.table_xinfo(sqlite_schema)",
    "PRAGMA index_list(gene)",
    "SELECT * FROM pragma_index_info((SELECT name FROM sqlite_schema WHERE type = 'index'))",
    "SELECT * FROM sqlite_schema",
    "SELECT rowid, _rowid_, oid FROM gene",
    "EXPLAIN SELECT * FROM gene",
    "SELECT current_timestamp, current_user",
    "SELECT * FROM gene INDEXED BY nothing",
    "SELECT likelihood(1, 2)",
    "SELECT likely(uid) FROM gene WHERE unlikely(uid) GROUP BY likelihood(name, 0.5)",
    "SELECT CASE WHEN 1 THEN (SELECT 1 UNION SELECT 2) END",
    "SELECT (1, 2) = (SELECT 1, 2), (1, 2, 3) < (1, 2)",
    "SELECT 'a' LIKE 'b' ESCAPE 'cc'",
    "SELECT 1 FROM (((((((((((gene)))))))))))",
    "SELECT raise(ABORT, 'a')",
    "SELECT * FROM (VALUES (1), (2, 3))",
    "SELECT 1; -- DELETE FROM gene",
    ";",
    ";;;;",
    "()",
    "\\",
    "🧬",
    "SELECT '🧬' AS \"🧬\"",
)
