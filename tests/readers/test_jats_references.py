"""References: printed ones as printed, data composed, nothing lost, nothing glued."""

import pytest

from tests.readers.jats_snippets import article, back_of, body_of, read

NAMES = (
    '<person-group person-group-type="author"><name><surname>Doe</surname><given-names>J'
    "</given-names></name><name><surname>Roe</surname><given-names>R</given-names><suffix>Jr"
    "</suffix></name><etal/></person-group>"
)


def references(*refs: str, title: str = "") -> str:
    title = f"<title>{title}</title>" if title else ""
    return back_of(f"<ref-list>{title}{''.join(f'<ref>{ref}</ref>' for ref in refs)}</ref-list>")


def test_data_is_composed() -> None:
    assert references(
        f"<label>1</label><element-citation>{NAMES}<article-title>On <italic>x</italic>"
        "</article-title><source>Nature</source><year>2005</year><volume>437</volume>"
        "<issue>7062</issue><fpage>1158</fpage><lpage>61</lpage>"
        '<pub-id pub-id-type="doi">10.1000/a_b</pub-id><pub-id pub-id-type="pmid">123</pub-id>'
        "</element-citation>"
    ) == (
        "## References\n\n1. Doe J, Roe R Jr, et al. On *x*. *Nature* 2005;437(7062):1158–61. "
        "doi:10.1000/a_b. PMID 123"
    )


def test_what_has_no_place_of_its_own_is_kept() -> None:
    made = references(
        "<element-citation><person-group><collab>WHO</collab></person-group>"
        '<person-group person-group-type="editor"><name><surname>Ed</surname></name></person-group>'
        "<source>A book</source><edition>2</edition><publisher-loc>Geneva</publisher-loc>"
        "<publisher-name>Press</publisher-name><year>2001</year><comment>In French</comment>"
        "<uri>http://x.org</uri><conf-name>Meeting</conf-name><novelty>new</novelty>"
        "<date-in-citation><day>1</day><month>May</month></date-in-citation></element-citation>"
    )
    for text in ("WHO", "Ed (editor)", "*A book* 2001", "2 ed.", "Geneva.", "Press.", "In French.",
                 "http://x.org", "Meeting.", "new.", "1 May"):  # fmt: skip
        assert text in made


def test_print_is_kept_as_printed_and_unglued() -> None:
    assert references(
        "<label>[2]</label><mixed-citation><person-group><name><surname>Doe</surname><given-names>"
        "J.</given-names></name><name><surname>Roe</surname><given-names>R.</given-names></name>"
        "</person-group> (<year>2005</year>). <article-title>Title</article-title>. <source>Nature"
        "</source>\n<volume>85</volume>, <fpage>119</fpage>–<lpage>146</lpage>."
        '<pub-id pub-id-type="pmid">12</pub-id></mixed-citation>',
        "<mixed-citation>Doe J. <italic>Nat.</italic><bold>10</bold>, 9 doi: "
        '<pub-id pub-id-type="doi">10.1000/a</pub-id></mixed-citation>',
    ).splitlines()[2:] == [
        "2. Doe J., Roe R. (2005). Title. Nature 85, 119–146. PMID 12",
        "2. Doe J. *Nat.* **10**, 9 doi: 10.1000/a",
    ]


def test_of_alternatives_the_printed_one_is_shown() -> None:
    assert references(
        "<citation-alternatives><element-citation><year>1</year></element-citation>"
        "<mixed-citation>As printed.</mixed-citation></citation-alternatives>"
    ).endswith("1. As printed.")


@pytest.mark.parametrize(
    ("label", "start"),
    [
        ("12.", "12. R"),
        ("[3]", "3. R"),
        ("", "1. R"),
        ("Doe01", "1. [Doe01] R"),
        ("[A]", "1. [A] R"),
    ],
)
def test_labels_are_kept_unless_they_are_the_number(label: str, start: str) -> None:
    label = f"<label>{label}</label>" if label else ""
    assert references(f"{label}<mixed-citation>R</mixed-citation>").endswith(f"\n\n{start}")


def test_notes_and_several_citations_in_one_reference() -> None:
    made = references(
        "<mixed-citation>First.</mixed-citation><mixed-citation>Second.</mixed-citation>"
        "<note><p>A remark.</p></note>"
    )
    assert made.endswith("1. (a) First.<br>(b) Second. A remark.")


@pytest.mark.parametrize(
    ("title", "heading"),
    [
        ("REFERENCES", "References"),
        ("Literature Cited", "References"),
        ("<bold>References</bold>", "References"),
        ("Web resources", "Web resources"),
        ("", "References"),
    ],
)
def test_synonyms_of_references_are_one_heading(title: str, heading: str) -> None:
    made = references("<mixed-citation>R</mixed-citation>", title=title)
    assert made == f"## {heading}\n\n1. R"


def test_reference_lists_may_nest_and_hold_text() -> None:
    made = back_of(
        "<ref-list><p>Starred ones matter.</p><ref><mixed-citation>A</mixed-citation></ref>"
        "<ref-list><title>Further reading</title><ref><mixed-citation>B</mixed-citation></ref>"
        "</ref-list></ref-list>"
    )
    assert made == ("## References\n\nStarred ones matter.\n\n1. A\n\n### Further reading\n\n1. B")


def test_a_citation_in_a_paragraph_stays_in_its_line() -> None:
    xml = "<p>See <mixed-citation>Doe, <source>Nature</source></mixed-citation> there.</p>"
    assert body_of(xml) == "See Doe, Nature there."


def test_full_stops_are_not_doubled_and_colons_not_stopped() -> None:
    made = references(
        "<mixed-citation><person-group><name><surname>Doe</surname><given-names>J.</given-names>"
        "</name><etal/></person-group>. <source>Nature</source>...</mixed-citation>"
    )
    assert made.endswith("1. Doe J., et al. Nature...")
    made = references(
        "<element-citation><source><italic>X.</italic></source><comment>Available from:</comment>"
        "<ext-link>there</ext-link></element-citation>"
    )
    assert made.endswith("1. *X.* Available from: there.")


@pytest.mark.parametrize(
    ("number", "written"),
    [
        ("10.1/77:7&amp;lt;12::A_1&amp;gt;3", "doi:10.1/77:7<12::A_1>3"),
        ("10.1/&lt;script&gt;", r"doi:10.1/\<script>"),
        ("10.1/[a](javascript:b)", r"doi:10.1/[a\](javascript:b)"),
    ],
)
def test_identifiers_are_searchable_and_cannot_act(number: str, written: str) -> None:
    made = references(
        f'<mixed-citation>R <pub-id pub-id-type="doi">{number}</pub-id></mixed-citation>'
    )
    assert made.endswith(f"1. R {written}")


def test_a_doi_in_a_sentence_stands_as_printed() -> None:
    doi = '<pub-id pub-id-type="doi">10.1/a</pub-id>'
    xml = f"<p>See <mixed-citation>Article 5{doi}</mixed-citation>.</p>"
    assert body_of(xml) == "See Article 5 10.1/a."


def test_several_citations_under_one_number_are_told_apart() -> None:
    both = (
        "<mixed-citation>Roe. <italic>A</italic>.</mixed-citation>"
        "<mixed-citation>Poe. B.</mixed-citation>"
    )
    labelled = (
        "<mixed-citation><label>(a)</label>Roe. A.</mixed-citation>"
        "<mixed-citation><label>(b)</label>Poe. B.</mixed-citation>"
    )
    made = back_of(
        f"<ref-list><ref id='r1'><label>1</label>{both}</ref><ref id='r2'><label>2</label>"
        f"{labelled}</ref><ref id='r3'><label>3</label><mixed-citation>Doe.</mixed-citation></ref>"
        "</ref-list>"
    )
    assert made == (
        "## References\n\n1. (a) Roe. *A*.<br>(b) Poe. B.\n2. (a) Roe. A.<br>(b) Poe. B.\n3. Doe."
    )


def test_a_number_with_several_citations_counts_once_as_the_text_cites_it() -> None:
    cited = "".join(
        f"<p>So it is <xref ref-type='bibr' rid='c{n}b'>{n}</xref>.</p>" for n in (1, 2)
    )
    refs = "".join(
        f"<ref id='r{n}'><label>{n}</label><mixed-citation id='c{n}a'>A.</mixed-citation>"
        f"<mixed-citation id='c{n}b'>B.</mixed-citation></ref>"
        for n in (1, 2)
    )
    assert read(article(cited, back=f"<ref-list>{refs}</ref-list>")).references == 2


def test_parts_of_a_date_that_nothing_stands_between_are_kept_apart() -> None:
    date = "<date-in-citation><month>9</month><day>12</day>, <year>2018</year></date-in-citation>"
    made = references(f"<mixed-citation>Perch list (last accessed {date})</mixed-citation>")
    assert "(last accessed 9 12, 2018)" in made
