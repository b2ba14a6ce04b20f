"""Whatever a site sends: a sound dataset with all its records, or an error that says why not."""

import json
import re
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.sax.saxutils import escape, quoteattr

from hypothesis import given
from hypothesis import strategies as st

from tests.entrez.datasets.sane import check, columns, rows, tables
from tests.examples import often
from utils.entrez.datasets.building import build_dataset
from utils.entrez.datasets.trees import RawRecordPage
from utils.errors import PaperError

SLOW = often(40)
NAMES = st.one_of(
    st.sampled_from(
        ["uid", "id", "position", "order", "a", "A", "a_b", "", "other_fields", "gene", "values"]
    ),
    st.text(max_size=6),
)
TELLING = """7 007 1.50 -3.5e-7 2012/11/22 1/01/01 22-NOV-2012 <a>b</a> <i>x</i> 1e400 &lt;r/&gt;
    <r/><r/> \ud800 a\0b <!DOCTYPE x&y; 99999999999999999999999999 \u202e 2012-11-22T10:00:00Z"""
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**25), 10**25),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from([*TELLING.split(), "1968 Aug", "2012/11/22 00:00", "1/01/01 00:00"]),
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)
RECORDS = st.lists(st.dictionaries(NAMES, TREES, max_size=6), max_size=6)


@SLOW
@given(RECORDS)
def test_rows_of_any_shape(records):
    body = json.dumps([{**row, "uid": str(n)} for n, row in enumerate(records)]).encode()
    with TemporaryDirectory() as folder:
        built = build_dataset([RawRecordPage("gene", "rows", body)], Path(folder) / "x.db", {})
        check(built)
        assert built.records == len(records)


@SLOW
@given(RECORDS)
def test_summaries_of_any_shape(records):
    named = {str(number): row for number, row in enumerate(records, 1)}
    body = json.dumps({"result": {"uids": list(named), **named}}).encode()
    with TemporaryDirectory() as folder:
        built = build_dataset(
            [RawRecordPage("gene", "docsum_json", body)], Path(folder) / "x.db", {}
        )
        check(built)
        assert built.records + len(built.not_found) == len(records)
        for uid in set(named) - set(built.not_found):
            assert rows(
                built.file, f"SELECT count(*) FROM {tables(built.file)[0]} WHERE uid = ?", uid
            )


def numbered(tree, numbers):
    """The tree with a word of its own at every leaf."""
    if isinstance(tree, dict):
        return {name: numbered(inner, numbers) for name, inner in tree.items()}
    if isinstance(tree, list):
        return [numbered(inner, numbers) for inner in tree]
    return f"m{next(numbers)}."


MARKED = st.recursive(
    st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)


@SLOW
@given(st.lists(st.dictionaries(NAMES, MARKED, max_size=6), max_size=5))
def test_no_value_is_lost(records):
    numbers = count()
    body = json.dumps(numbered(records, numbers)).encode()
    with TemporaryDirectory() as folder:
        file = Path(folder) / "x.db"
        build_dataset([RawRecordPage("gene", "rows", body)], file, {})
        main, *below = tables(file)
        cells = [cell for (cell,) in rows(file, f"SELECT uid FROM {main}")]
        for table in (main, *below):
            own = [column for column in columns(file, table) if column != "uid"] or ["1"]
            cells += chain(*rows(file, f"SELECT {', '.join(own)} FROM {table}"))
        found = set(re.findall(r"m\d+\.", " ".join(map(str, cells))))
        assert found == {f"m{number}." for number in range(next(numbers))}


XML_NAMES = st.sampled_from(
    ["Id", "Name", "Authors", "Author", "x_y", "x", "List", "string", "Tax"]
)
TEXTS = st.one_of(st.sampled_from(["", "1", "a", "2020/01/01"]), st.text("ab<&1 \n", max_size=5))


@st.composite
def elements(draw, depth=4):
    name = draw(XML_NAMES)
    attributes = draw(st.dictionaries(XML_NAMES, TEXTS, max_size=2))
    written = "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
    inner = draw(st.lists(elements(depth - 1), max_size=3)) if depth else []
    parts = [escape(draw(TEXTS)), *(f"{part}{escape(draw(TEXTS))}" for part in inner)]
    return f"<{name}{written}>{''.join(parts)}</{name}>"


@SLOW
@given(st.lists(elements(), max_size=4))
def test_elements_of_any_shape(records):
    named = [f"<Record uid='{number}'>{record}</Record>" for number, record in enumerate(records)]
    body = f"<Set>{''.join(named)}</Set>".encode()
    with TemporaryDirectory() as folder:
        built = build_dataset([RawRecordPage("gene", "xml", body)], Path(folder) / "x.db", {})
        check(built)
        assert built.records == len(records)


@SLOW
@given(st.lists(elements(), max_size=4))
def test_document_summaries_of_any_shape(records):
    named = [
        f"<DocumentSummary uid='{number}'><Title/>{record}</DocumentSummary>"
        for number, record in enumerate(records)
    ]
    listed = f"<DocumentSummarySet>{''.join(named)}</DocumentSummarySet>"
    body = f"<eSummaryResult>{listed}</eSummaryResult>"
    with TemporaryDirectory() as folder:
        built = build_dataset(
            [RawRecordPage("gene", "docsum_xml", body.encode())], Path(folder) / "x.db", {}
        )
        check(built)
        assert built.records == len(records)


@SLOW
@given(
    st.sampled_from(["pubmed_xml", "pmc_xml", "docsum_json", "docsum_xml", "xml", "rows"]),
    st.one_of(
        st.binary(max_size=60), st.lists(elements(), max_size=2).map(lambda e: "".join(e).encode())
    ),
)
def test_what_is_in_no_form(form, body):
    with TemporaryDirectory() as folder:
        file = Path(folder) / "x.db"
        with suppress(PaperError):  # anything else is a crash
            check(build_dataset([RawRecordPage("gene", form, body)], file, {}))
        assert {path.name for path in Path(folder).iterdir()} <= {file.name}
