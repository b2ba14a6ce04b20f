"""A record reads the same in whichever form it came."""

import json

import pytest

from utils.entrez.datasets.trees import OWN_TEXT, RawRecordPage, find_record_uid, iterate_records


def read(form, body):
    return [tuple(record) for record in iterate_records(RawRecordPage("gene", form, body.encode()))]


def test_summaries_of_both_versions_and_json_are_alike():
    first = """<eSummaryResult><DocSum><Id>7</Id><Item Name="title" Type="String">A</Item>
      <Item Name="authors" Type="List"><Item Name="author" Type="String">X</Item></Item>
      <Item Name="length" Type="Integer">12</Item></DocSum></eSummaryResult>"""
    second = """<eSummaryResult><DocumentSummarySet><DocumentSummary uid="7"><title>A</title>
      <authors><author>X</author></authors><length>12</length></DocumentSummary>
      </DocumentSummarySet></eSummaryResult>"""
    fields = {"title": "A", "authors": {"author": ["X"]}, "length": "12"}
    third = json.dumps({"result": {"uids": ["7"], "7": fields}})
    assert read("docsum_xml", first) == read("docsum_xml", second) == [("7", fields)]
    assert read("docsum_json", third) == [("7", fields)]


@pytest.mark.parametrize(
    ("xml", "fields"),
    [
        ("<a>x</a>", {"a": "x"}),
        ("<a b='1'>x</a>", {"a": {OWN_TEXT: "x", "b": "1"}}),
        ("<a b='1'/><a/>", {"a": [{"b": "1"}, ""]}),
        ("<a>10<sup>-5</sup> <i>M</i></a>", {"a": "10⁻⁵ M"}),
        ("<a>x<b>y</b>z</a>", {"a": "xyz"}),
        ("<a>x<q>y</q>z</a>", {"a": {OWN_TEXT: "x z", "q": "y"}}),
        ("<Authors><Author>X</Author></Authors>", {"Authors": {"Author": ["X"]}}),
        ("<Authors n='1'><Author>X</Author></Authors>", {"Authors": {"n": "1", "Author": ["X"]}}),
        ("<Lang><string>eng</string></Lang>", {"Lang": {"string": ["eng"]}}),
        ("<p:a xmlns:p='urn:x' p:b='1'/>", {"a": {"b": "1"}}),
        ("<!-- c --><?pi?><a/>", {"a": ""}),
    ],
)
def test_elements(xml, fields):
    assert read("xml", f"<Set><Record id='1'>{xml}</Record></Set>") == [("1", {"id": "1"} | fields)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (" a ", "a"),
        ("A <i>b</i> &amp; c", "A b & c"),
        ("p < 0.05 & q > 1", "p < 0.05 & q > 1"),
        ("<i>all</i>", "all"),
        ("<a href='x'>link</a>", "<a href='x'>link</a>"),
        ("<Run acc='1'/>", {"Run": {"acc": "1"}}),
        ("&lt;Run acc='1'/&gt;", {"Run": {"acc": "1"}}),
        ("<?xml version='1.0'?><xml><q>1</q></xml>", {"q": "1"}),
        ("<a>1</a><c>", "<a>1</a><c>"),
        ("CC(=O)<sub>2</sub>", "CC(=O)2"),
        ("https://x.org/?a=1&lt=2&copy=3", "https://x.org/?a=1&lt=2&copy=3"),
    ],
)
def test_texts_that_hold_xml(text, value):
    assert read("rows", json.dumps([{"uid": "1", "t": text}])) == [("1", {"uid": "1", "t": value})]


@pytest.mark.parametrize(
    ("fields", "uid"),
    [
        ({"id": 5}, "5"),
        ({"accession": "A1", "uid": "7"}, "7"),
        ({"TaxId": {OWN_TEXT: "9606"}}, "9606"),
        ({"track-info": {"geneid": "672"}}, "672"),
        ({"EXPERIMENT": {"accession": "SRX1"}}, "SRX1"),
        ({"id": ["1", "2"]}, None),
        ({"id": True, "a": "b"}, None),
        ({"id": "x" * 1000}, None),
        ({"id": "a\u202eb"}, None),
    ],
)
def test_what_names_a_record(fields, uid):
    assert find_record_uid(fields) == uid


def test_records_that_are_not_there():
    gone = """<eSummaryResult><DocumentSummarySet><DocumentSummary uid="1">
      <error>cannot get document summary</error></DocumentSummary></DocumentSummarySet>
      </eSummaryResult>"""
    assert read("docsum_xml", gone) == [("1", None)]
    first = """<eSummaryResult><ERROR>Invalid uid 4 at position=0</ERROR><DocSum><Id>5</Id>
      <Item Name="a" Type="String">b</Item></DocSum></eSummaryResult>"""
    assert read("docsum_xml", first) == [("4", None), ("5", {"a": "b"})]
    error = {"uid": "1", "error": "cannot get document summary"}
    told = json.dumps(
        {"result": {"uids": ["1", "2"], "1": error, "2": {"error": "none", "a": 1, "b": 2}}}
    )
    assert read("docsum_json", told) == [("1", None), ("2", {"error": "none", "a": 1, "b": 2})]
