"""Statements that should do harm: to the file, to other files, to whoever reads them.

None may be answered with rows. ``{elsewhere}`` stands for a path outside the dataset that must
neither be read nor come into being. What may be answered within bounds: `.endless_statements`.
"""

_WRITES = """
INSERT INTO gene(uid) VALUES ('x')
INSERT OR REPLACE INTO gene(uid) VALUES ('7001')
INSERT INTO gene SELECT * FROM gene
INSERT INTO gene DEFAULT VALUES
INSERT INTO gene(uid) VALUES ('x') RETURNING *
INSERT INTO gene(uid) VALUES ('x') ON CONFLICT DO UPDATE SET name = 'x'
REPLACE INTO gene(uid) VALUES ('7001')
UPDATE gene SET name = 'x'
UPDATE OR IGNORE gene SET uid = 'x'
UPDATE gene SET name = a.alias FROM gene_alias a WHERE a.gene_uid = gene.uid
UPDATE gene SET name = 'x' RETURNING uid
UPDATE _dataset SET value = 'x'
DELETE FROM gene
DELETE FROM gene WHERE 0
DELETE FROM gene RETURNING uid
DELETE FROM _dataset
DELETE FROM sqlite_schema
UPDATE sqlite_schema SET sql = 'x'
UPDATE sqlite_master SET rootpage = 1
INSERT INTO sqlite_master VALUES ('table', 'a', 'a', 2, 'CREATE TABLE a(b)')
WITH x AS (SELECT 1) DELETE FROM gene
WITH x AS (SELECT 1) INSERT INTO gene(uid) SELECT * FROM x
WITH x AS (SELECT 1) UPDATE gene SET name = (SELECT * FROM x)
CREATE TABLE a (b)
CREATE TABLE IF NOT EXISTS gene (b)
CREATE TABLE a AS SELECT * FROM gene
CREATE TEMP TABLE a (b)
CREATE TEMPORARY TABLE a AS SELECT * FROM gene
CREATE TABLE temp.a (b)
CREATE VIEW a AS SELECT 1
CREATE TEMP VIEW a AS SELECT 1
CREATE INDEX a ON gene(name)
CREATE UNIQUE INDEX IF NOT EXISTS a ON gene(name)
CREATE TRIGGER a AFTER INSERT ON gene BEGIN SELECT 1; END
CREATE TEMP TRIGGER a AFTER INSERT ON gene BEGIN SELECT 1; END
CREATE VIRTUAL TABLE a USING fts5(b)
CREATE VIRTUAL TABLE a USING fts4(b)
CREATE VIRTUAL TABLE a USING rtree(b, c, d)
CREATE VIRTUAL TABLE temp.a USING fts5(b)
CREATE VIRTUAL TABLE a USING dbstat
CREATE VIRTUAL TABLE a USING csv(filename='/etc/passwd')
DROP TABLE gene
DROP TABLE IF EXISTS gene
DROP TABLE IF EXISTS _dataset
DROP INDEX gene_alias_of
ALTER TABLE gene RENAME TO a
ALTER TABLE gene ADD COLUMN a
ALTER TABLE gene DROP COLUMN name
ALTER TABLE gene RENAME COLUMN name TO a
REINDEX
REINDEX gene_alias_of
ANALYZE
ANALYZE gene
VACUUM
VACUUM main
VACUUM INTO '{elsewhere}'
BEGIN
BEGIN IMMEDIATE
BEGIN EXCLUSIVE TRANSACTION
COMMIT
END
ROLLBACK
SAVEPOINT a
RELEASE a
ROLLBACK TO a
EXPLAIN DELETE FROM gene
EXPLAIN QUERY PLAN DELETE FROM gene
EXPLAIN DROP TABLE gene
EXPLAIN ATTACH '{elsewhere}' AS a
"""
_ATTACHES = """
ATTACH '{elsewhere}' AS a
ATTACH DATABASE '{elsewhere}' AS a
ATTACH 'file:{elsewhere}?mode=rwc' AS a
ATTACH 'file:{elsewhere}?mode=rwc&vfs=unix-none' AS a
ATTACH ':memory:' AS a
ATTACH '' AS a
ATTACH NULL AS a
ATTACH '/etc/passwd' AS a
ATTACH (SELECT '{elsewhere}') AS a
ATTACH '{elsewhere}' || '' AS a
ATTACH char(47, 116, 109, 112, 47, 97) AS a
ATTACH 'file::memory:?cache=shared' AS a
ATTACH '{elsewhere}' AS main
ATTACH '{elsewhere}' AS temp
ATTACH '{elsewhere}' AS a KEY 'b'
DETACH main
DETACH DATABASE temp
DETACH a
"""
_PRAGMAS = """
PRAGMA journal_mode
PRAGMA journal_mode = WAL
PRAGMA journal_mode(DELETE)
PRAGMA main.journal_mode = OFF
PRAGMA query_only = OFF
PRAGMA query_only(0)
PRAGMA writable_schema = ON
PRAGMA writable_schema = RESET
PRAGMA trusted_schema = ON
PRAGMA schema_version = 9
PRAGMA user_version = 9
PRAGMA application_id = 9
PRAGMA wal_checkpoint(TRUNCATE)
PRAGMA auto_vacuum = 1
PRAGMA incremental_vacuum
PRAGMA page_size = 512
PRAGMA encoding = 'UTF-16'
PRAGMA locking_mode = EXCLUSIVE
PRAGMA synchronous = OFF
PRAGMA temp_store = FILE
PRAGMA temp_store_directory = '/tmp'
PRAGMA data_store_directory = '/tmp'
PRAGMA hard_heap_limit = 0
PRAGMA soft_heap_limit = 0
PRAGMA mmap_size = 9999999999
PRAGMA cache_size = 9999999
PRAGMA cache_spill = 1
PRAGMA threads = 8
PRAGMA busy_timeout = 100000
PRAGMA case_sensitive_like = ON
PRAGMA legacy_alter_table = ON
PRAGMA recursive_triggers = ON
PRAGMA foreign_keys = ON
PRAGMA defer_foreign_keys = ON
PRAGMA ignore_check_constraints = ON
PRAGMA secure_delete = ON
PRAGMA shrink_memory
PRAGMA optimize
PRAGMA integrity_check
PRAGMA quick_check
PRAGMA foreign_key_check
PRAGMA database_list
PRAGMA compile_options
PRAGMA function_list
PRAGMA module_list
PRAGMA pragma_list
PRAGMA collation_list
PRAGMA stats
PRAGMA lock_status
PRAGMA vdbe_trace = ON
PRAGMA parser_trace = ON
PRAGMA reverse_unordered_selects = ON
PRAGMA key = 'a'
PRAGMA rekey = 'a'
SELECT * FROM pragma_journal_mode
SELECT * FROM pragma_database_list
SELECT * FROM pragma_compile_options
SELECT * FROM pragma_function_list
SELECT * FROM pragma_module_list
SELECT * FROM pragma_integrity_check
SELECT * FROM pragma_user_version
SELECT file FROM pragma_database_list()
SELECT * FROM pragma_optimize(1)
"""
_REACHING = """
SELECT load_extension('{elsewhere}')
SELECT load_extension('{elsewhere}', 'main')
SELECT LOAD_EXTENSION('{elsewhere}')
SELECT "load_extension"('{elsewhere}')
SELECT [load_extension]('{elsewhere}')
SELECT `load_extension`('{elsewhere}')
SELECT load_extension /**/ ('{elsewhere}')
SELECT name FROM gene WHERE load_extension('{elsewhere}')
SELECT name FROM gene ORDER BY load_extension('{elsewhere}')
SELECT (SELECT load_extension('{elsewhere}') FROM gene)
VALUES (load_extension('{elsewhere}'))
WITH a AS (SELECT load_extension('{elsewhere}')) SELECT * FROM a
SELECT readfile('/etc/passwd')
SELECT writefile('{elsewhere}', 'a')
SELECT edit('a')
SELECT * FROM fsdir('/')
SELECT * FROM readfile('/etc/passwd')
SELECT fts3_tokenizer('simple')
SELECT fts3_tokenizer('simple', x'4141414141414141')
SELECT sqlite_log(1, 'a')
SELECT sqlite_compileoption_used('a')
SELECT sqlite_compileoption_get(1)
SELECT sqlite_source_id()
SELECT sqlite_offset(name) FROM gene
SELECT last_insert_rowid()
SELECT changes()
SELECT total_changes()
SELECT randomblob(1000000000)
SELECT zeroblob(1000000000)
SELECT hex(zeroblob(30000000))
SELECT fts5(1)
SELECT highlight(gene, 1, 'a', 'b') FROM gene
SELECT snippet(gene) FROM gene
SELECT match('a', 'b')
SELECT 'a' MATCH 'b'
SELECT 'a' REGEXP '(a+)+b'
SELECT rtreedepth(x'00')
SELECT geopoly_area(x'00')
SELECT sqlite_rename_column('a','b','c',1,2,'d',3,4)
SELECT sqlite_rename_table('a','b','c','d','e',1)
SELECT * FROM dbstat
SELECT data FROM sqlite_dbpage
SELECT sql FROM sqlite_stmt
SELECT * FROM bytecode('SELECT 1')
SELECT * FROM tables_used('SELECT 1')
SELECT * FROM sqlite_temp_master
SELECT name FROM sqlite_temp_schema
SELECT name FROM temp.sqlite_master
SELECT * FROM a.gene
SELECT * FROM generate_series(1, 10)
SELECT eval('DELETE FROM gene')
SELECT system('id')
SELECT shell('id')
COPY gene TO '{elsewhere}'
SELECT * INTO OUTFILE '{elsewhere}' FROM gene
.shell id
.output {elsewhere}
"""
_SEVERAL = """
SELECT 1; DELETE FROM gene
SELECT 1;DELETE FROM gene;
; SELECT 1; DROP TABLE gene
SELECT 1;; SELECT 2
SELECT 1;SELECT 2
SELECT ';'; DROP TABLE gene
SELECT "name" FROM gene; ATTACH '{elsewhere}' AS a
SELECT 1 /* ; */; VACUUM INTO '{elsewhere}'
PRAGMA table_info(gene); DELETE FROM gene
EXPLAIN SELECT 1; DELETE FROM gene
BEGIN; DELETE FROM gene; COMMIT
VALUES (1); VALUES (2)
"""
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
