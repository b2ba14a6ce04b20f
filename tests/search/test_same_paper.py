"""Records of one paper are found, and no two papers ever become one."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality.duplicates.invented import invented_papers
from quality.duplicates.labelled import changed_preprints, labelled_set, linked, score
from quality.duplicates.recorded import distinct_papers, real_pairs
from tests.examples import often
from utils.model.identifiers import Ids
from utils.model.paper import Author, Notice, Paper
from utils.search.fused_results import group_records
from utils.search.same_paper import judge_pair

PEOPLE = (Author("Müller", "Jane"), Author("García López", "Ximena"), Author("Wang", "Li"))
REEF = Paper(
    Ids(),
    title="Coral reefs and α-tocopherol: recovery after heat waves",
    authors=PEOPLE,
    journal="Journal of Clinical Reefs",
    volume="7",
    pages="111-19",
    published="2024-03",
    publication_types=("Journal Article",),
)


def relation(**changes):
    return judge_pair(REEF, replace(REEF, **changes)).relation


@pytest.mark.parametrize(
    "changes",
    [
        {"title": REEF.title.upper()},
        {"title": "<b>Coral reefs</b> and alpha-tocopherol: recovery after heat waves."},
        {"title": r"Coral reefs and $\alpha$-\textit{tocopherol}: Recovery after Heat Waves"},
        {"title": "Coral reefs and α‐tocopherol—recovery after heat waves", "volume": ""},
        {"title": "Coral reefs and α-tocopherol"},
        {"title": "Coral reefs and α-tocopherol: recovery after h…"},
        {"title": "[Coral reefs and α-tocopherol: recovery after heat waves]."},
        {"title": "RETRACTED: Coral reefs and α-tocopherol: recovery after heat waves"},
        {"journal": "J Clin Reefs", "pages": "", "volume": ""},
        {"published": "2025", "journal": "J. Clin. Reefs"},
        {"authors": (Author("Mueller", initials="J"), Author("Lopez", "X"))},
        {"authors": (Author("MULLER", initials="J"),)},
        {"authors": ()},
        {"pages": "111-119"},
        {"title": "Corla reefs and α-tocopherol: recovery after heat waves"},
    ],
)
def test_one_paper_written_down_in_another_way(changes):
    assert relation(**changes) == "same"


@pytest.mark.parametrize(
    "changes",
    [
        {"title": f"{REEF.title}. Part II", "pages": "120-9"},
        {"title": f"Reply to: {REEF.title}"},
        {"title": f"Erratum: {REEF.title}"},
        {"published": "2025", "volume": "8", "pages": "1-9"},
        {"published": "2025", "volume": "", "pages": ""},
        {"published": "2027"},
        {"volume": "8", "pages": ""},
        {"pages": "240-9"},
        {"pages": "", "issue": "Suppl 1"},
        {"pages": "S88", "volume": "7", "issue": "Suppl 1"},
        {"journal": "Proceedings of Reef Meetings", "volume": "", "pages": ""},
        {"authors": (Author("Nowak", "Ada"), Author("Kim", "Yuki"))},
        {"authors": (Author("Müller", "Karl"),)},
        {"title": "Coral reefs and β-tocopherol: recovery after heat waves"},
        {"publication_types": ("Published Erratum",), "pages": "", "volume": ""},
        {"publication_types": ("Comment",), "pages": "", "volume": ""},
        {"publication_types": ("Letter", "Comment"), "pages": ""},
        {"publication_types": ("Editorial",)},
    ],
)
def test_another_paper_that_looks_alike(changes):
    assert relation(**changes) != "same"


@pytest.mark.parametrize("title", ["Editorial", "Introduction", "Obituary"])
def test_a_page_is_no_place_where_the_journal_is_unknown(title):
    placed = Paper(
        Ids(pmid="1"), title, journal="J Foo", volume="12", pages="3-4", published="2019"
    )
    for other in (
        Paper(Ids(), title, volume="12", pages="3", published="2020"),
        Paper(Ids(), f"{title}.", volume="12", pages="3-4"),
    ):
        assert judge_pair(placed, other).relation != "same"


def test_two_pubmed_records_of_one_doi_are_no_versions_of_each_other():
    title, who = "Impurity pinning in levitated droplets of brine", (Author("Haddad", "Samir"),)
    one = Paper(Ids(pmid="1", doi="10.1000/j.2"), title, authors=who, published="2024")
    other = Paper(Ids(pmid="77", doi="10.1000/j.2"), title, authors=who, published="2024")
    assert judge_pair(one, other).relation in {"different", "may_be"}


def test_a_title_that_many_papers_share_needs_the_very_page():
    one = replace(REEF, title="Editorial")
    assert judge_pair(one, replace(one, pages="")).relation != "same"
    assert judge_pair(one, replace(one, pages="111")).relation == "same"


@pytest.mark.parametrize("types", [(), ("journal-article",), ("Letter", "Comment")])
def test_a_letter_is_found_where_other_records_say_no_type_or_its_own(types):
    letter = replace(REEF, publication_types=("Letter",), pages="", volume="")
    assert judge_pair(letter, replace(letter, publication_types=types)).relation == "same"


def test_one_abstract_is_of_one_paper_whatever_types_say():
    paper = replace(REEF, abstract=ABSTRACT, volume="", pages="")
    letter = replace(paper, publication_types=("Letter",))
    assert judge_pair(paper, letter).relation == "same"
    assert judge_pair(paper, replace(letter, abstract=OTHER)).relation == "different"


def test_what_says_no_type_is_no_bridge_between_a_paper_and_the_comment_on_it():
    comment = replace(REEF, publication_types=("Comment",), pages="", volume="")
    silent = replace(REEF, publication_types=(), pages="", volume="")
    paper = replace(silent, publication_types=("Journal Article",))
    assert group_records([paper, silent, comment]).groups == ((0,), (1,), (2,))
    assert group_records([REEF, replace(REEF, publication_types=()), comment]).groups == (
        (0, 1),
        (2,),
    )


@pytest.mark.parametrize("changes", [{"title": f"Erratum: {REEF.title}"}, {}])
def test_two_errata_of_one_title_are_no_versions(changes):
    notice = replace(REEF, publication_types=("Published Erratum",), **changes)
    one, two = (replace(notice, ids=Ids(doi=f"10.1000/reef.{n}")) for n in "12")
    assert judge_pair(one, two).relation == "different"
    papers = (
        replace(one, ids=one.ids, title=REEF.title, publication_types=()) for one in (one, two)
    )
    assert judge_pair(*papers).relation == "version_of"


def test_identifiers_that_clash_are_two_papers_whatever_they_look_like():
    one, other = (replace(REEF, ids=Ids(doi=f"10.1000/{name}")) for name in "ab")
    assert judge_pair(one, other).relation == "may_be"
    assert len(group_records([one, other]).groups) == 2


def test_a_shared_identifier_is_not_believed_against_everything_else():
    one = replace(REEF, ids=Ids(doi="10.1000/a"))
    other = Paper(Ids(doi="10.1000/a"), title="Moss in peat", authors=(Author("Kim", "Yuki"),))
    families = group_records([one, other])
    assert len(families.groups) == 2
    assert "doi:10.1000/a" in families.contradictions[0]


def test_what_could_be_of_either_of_two_papers_is_of_neither():
    records = [replace(REEF, ids=Ids(doi=f"10.1000/{name}")) for name in "ab"]
    assert group_records([*records, REEF]).groups == ((0,), (1,), (2,))
    assert group_records([REEF, records[0]]).groups == ((0, 1),)


def test_records_that_a_person_told_apart_are_in_no_group_together() -> None:
    other = replace(REEF, ids=Ids())
    assert group_records([REEF, other, other]).groups == ((0, 1, 2),)
    assert group_records([REEF, other], {(0, 1)}).groups == ((0,), (1,))
    groups = group_records([REEF, other, other], {(0, 1)}).groups
    assert all(not {0, 1} <= set(group) for group in groups)


def test_no_record_brings_two_together_that_cannot_be_one():
    no_volume = replace(REEF, volume="", pages="")
    records = [REEF, no_volume, replace(REEF, volume="8", pages="")]
    assert all(not {0, 2} <= set(group) for group in group_records(records).groups)


def test_a_third_record_never_joins_two_that_contradict_each_other():
    records = [
        replace(REEF, ids=Ids(doi="10.1000/a", pmid="1")),
        Paper(Ids(doi="10.1000/a"), title=REEF.title),
        replace(REEF, ids=Ids(doi="10.1000/a", pmid="2")),
    ]
    families = group_records(records)
    assert families.groups == ((0, 1), (2,))
    assert all("kept apart" in one for one in families.contradictions)
    assert families.contradictions


@st.composite
def told_by_many(draw):
    """Records of two PMIDs by many databases, some of them many times; no two agree in much."""
    rows = []
    for pmid, title in (("1", REEF.title), ("2", "Moss in peat: what wakes it after dry years")):
        spelled = st.sampled_from(["", title, title.upper(), title.partition(":")[0]])
        record = st.builds(
            lambda doi, title, authors, year, volume, pmid=pmid: Paper(
                Ids(doi=doi, pmid=pmid), title, authors=authors, published=year, volume=volume
            ),
            st.sampled_from(["", f"10.1000/{pmid}", f"10.1000/{pmid}.new", "10.1000/of.both"]),
            spelled,
            st.sampled_from([(), PEOPLE, PEOPLE[::-1], PEOPLE[1:2], (Author("Others"),)]),
            st.sampled_from(["", "2019", "2024"]),
            st.sampled_from(["", "7", "8"]),
        )
        for one in draw(st.lists(record, min_size=1, max_size=6)):
            rows += [one] * draw(st.sampled_from([1, 1, 2, 45]))
    rows += [replace(one, ids=replace(one.ids, pmid="")) for one in rows[: draw(st.integers(0, 3))]]
    return draw(st.permutations(rows))


@often(40)
@given(told_by_many())
def test_records_of_one_pmid_are_one_paper_and_of_two_are_two(records):
    groups = group_records(records).groups
    of = {"1": set(), "2": set(), "": set()}
    for number, group in enumerate(groups):
        for at in group:
            of[records[at].ids.pmid].add(number)
    assert len(of["1"]) == len(of["2"]) == 1
    assert not of["1"] & of["2"]


def test_records_are_joined_by_way_of_a_third():
    records = [
        replace(REEF, ids=Ids(pmid="1")),
        replace(REEF, title="Something else entirely", ids=Ids(doi="10.1000/a")),
        Paper(Ids(pmid="1", doi="10.1000/a")),
    ]
    families = group_records(records)
    assert families.groups == ((0, 1, 2),)
    assert {families.reasons[at].confidence for at in families.reasons} == {1.0}


PREPRINT = replace(
    REEF,
    ids=Ids(doi="10.1101/2023.01.01.123456"),
    title="Coral reefs and α-tocopherol: the recovery after heat waves",
    journal="bioRxiv",
    volume="",
    pages="",
    published="2023-01-01",
)


@pytest.mark.parametrize("years", [0, 1, 3])
def test_a_preprint_is_linked_to_what_became_of_it_and_never_merged(years):
    later = replace(REEF, published=str(2023 + years))
    assert judge_pair(PREPRINT, later).relation == "preprint_of"
    assert judge_pair(later, PREPRINT).relation == "has_preprint"
    assert judge_pair(replace(PREPRINT, title=REEF.title), later).confidence > 0.9


@pytest.mark.parametrize(
    "changes",
    [
        {"published": "2022"},
        {"published": "2032"},
        {"authors": (Author("Nowak", "Ada"),)},
        {"title": f"Correction to: {REEF.title}"},
        {"title": f"{REEF.title}. Part II"},
        {"title": f"{PREPRINT.title}: study protocol"},
        {"title": "Heat waves do not hurt the recovery of moss in peat"},
    ],
)
def test_what_cannot_have_come_of_a_preprint_is_not_linked_to_it(changes):
    assert judge_pair(PREPRINT, replace(REEF, **changes)).relation == "different"


ABSTRACT = " ".join(
    f"Corals of reef {n} that were fed with tocopherol for {n}0 weeks grew by {n} per cent."
    for n in "1234567"
)
OTHER = " ".join(
    f"Mosses of bog {n} were dried, and we asked which of them would wake." for n in "1234567"
)


@pytest.mark.parametrize(
    ("preprint", "later"),
    [
        ({}, {"published": "2028"}),
        ({"authors": ()}, {}),
        ({}, {"authors": ()}),
        ({"title": "Recovery after heat waves of coral reefs: the role of α-tocopherol"}, {}),
        (
            {"title": "Vitamins protect builders in the sea", "abstract": ABSTRACT},
            {"abstract": f"{ABSTRACT} So."},
        ),
    ],
)
def test_a_preprint_that_changed_on_its_way_is_linked(preprint, later):
    one = replace(PREPRINT, **{"title": REEF.title, **preprint})
    said = judge_pair(one, replace(REEF, **{"published": "2024", **later}))
    assert said.relation == "preprint_of"
    assert 0.5 < said.confidence < 0.95
    assert len(group_records([one, replace(REEF, **later)]).groups) == 2


@pytest.mark.parametrize(
    ("preprint", "later"),
    [
        ({}, {"published": "2033"}),
        ({"abstract": OTHER}, {"published": "2028", "abstract": ABSTRACT}),
        ({"authors": (), "abstract": OTHER}, {"abstract": ABSTRACT}),
        ({"authors": (), "title": "Coral reefs after heat waves"}, {}),
        ({"title": "Recovery of reefs", "abstract": OTHER}, {"abstract": ABSTRACT}),
        ({"title": "Coral reefs in winter: tocopherol and the trade of fishermen"}, {}),
        (
            {"title": "Vitamins protect", "abstract": ABSTRACT, "authors": PEOPLE[1:2]},
            {"abstract": ABSTRACT, "authors": PEOPLE[2:]},
        ),
    ],
)  # fmt: skip
def test_what_did_not_come_of_a_preprint_is_not_linked(preprint, later):
    one = replace(PREPRINT, **{"title": REEF.title, **preprint})
    said = judge_pair(one, replace(REEF, **{"published": "2024", **later}))
    assert said.relation == "different"


@pytest.mark.parametrize(
    "title",
    [
        "Korallenriffe nach Hitzewellen und ihre Erholung [Coral reefs recover after heat waves].",
        "Korallenriffe nach Hitzewellen und ihre Erholung = Coral reefs recover after heat waves",
        "[Coral reefs recover after heat waves (author's transl)].",
    ],
)
def test_a_title_in_two_languages_is_either(title):
    one = replace(REEF, title="[Coral reefs recover after heat waves].")
    assert judge_pair(one, replace(REEF, title=title)).relation == "same"
    assert judge_pair(one, replace(REEF, title=title, pages="240-9")).relation != "same"
    noticed = title.replace("[Coral", "[Erratum: Coral").replace("= Coral", "= Erratum: Coral")
    assert judge_pair(one, replace(REEF, title=noticed)).relation != "same"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("Tumour & haemoglobin in paediatric wards", "Tumor and hemoglobin in pediatric wards"),
        ("Coral reefs after heat waves [Abstract]", "Coral reefs after heat waves"),
        ("[Coral reefs after heat waves] LA: Chi", "Coral reefs after heat waves"),
        (
            "Coral reefs after heat waves. [Erratum appears in J Reefs. 2025;8:4]",
            "Coral reefs after heat waves",
        ),
        (
            "[Coral reefs after heat waves] TO: Korallenriffe nach Hitzewellen und Erholung",
            "Korallenriffe nach Hitzewellen und Erholung",
        ),
    ],
)
def test_spellings_and_what_databases_add_to_a_title_do_not_count(ours, theirs):
    one = replace(REEF, title=ours, pages="")
    assert judge_pair(one, replace(REEF, title=theirs, pages="")).relation == "same"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("PLoS ONE [Electronic Resource]", "PLoS ONE"),
        (
            "Gan to Kagaku Ryoho [Japanese Journal of Cancer & Chemotherapy]",
            "Jpn J Cancer Chemother",
        ),
        ("Praxis Suisse = Revue suisse de médecine", "Revue suisse de medecine"),
        ("Reef Insights: Heart, Lung and Blood", "Reef Insights Heart Lung Blood"),
    ],
)
def test_a_journal_is_known_by_each_of_its_names(ours, theirs):
    one = replace(REEF, journal=ours, volume="", pages="")
    assert judge_pair(one, replace(one, journal=theirs)).relation == "same"


def test_two_wordings_of_a_title_on_the_same_pages_are_one_paper():
    one = replace(REEF, title="[Comparison of dry and wet reefs in the recovery after heat waves]")
    other = replace(one, title="Recovery of reefs after heat waves. A study of dry against wet")
    assert judge_pair(one, other).relation == "same"
    assert judge_pair(one, replace(other, pages="111")).relation != "same"
    assert judge_pair(one, replace(other, pages="111-9 Suppl")).relation != "same"
    assert judge_pair(one, replace(other, title=f"Reply to: {other.title}")).relation != "same"
    assert judge_pair(one, replace(other, authors=PEOPLE[1:])).relation != "same"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("men", "women"), ("mice", "rats"), ("BRCA1", "BRCA2"), ("adults", "children")],
)
def test_papers_of_one_series_are_not_versions_of_each_other(ours, theirs):
    def made_of(word, record):
        text = f"We fed {word} with tocopherol for ten weeks. {ABSTRACT}"
        return replace(record, title=f"Coral tocopherol and the recovery of {word}", abstract=text)

    preprint, sibling = made_of(ours, PREPRINT), made_of(theirs, REEF)
    assert judge_pair(preprint, sibling).relation == "different"
    assert judge_pair(preprint, made_of(ours, REEF)).relation == "preprint_of"
    retouched = replace(made_of(ours, REEF), title=sibling.title)
    assert judge_pair(preprint, retouched).relation == "preprint_of"


def test_most_preprints_that_changed_are_linked_and_none_is_merged():
    made = changed_preprints(invented_papers())
    families = group_records(made.records)
    right, wrong = linked(made, families)
    assert len(made.preprints) > 50
    assert score(made, families.groups).wrong == 0
    assert len(right) > 0.6 * len(made.preprints)
    assert len(wrong) < 0.05 * len(right)


def test_what_the_record_of_a_preprint_says_needs_no_likeness():
    told = (Notice("update", "Reef J. 2024;7:1. doi: 10.1000/reef"),)
    later = Paper(Ids(doi="10.1000/reef"), title="A new name for it")
    said = judge_pair(replace(PREPRINT, notices=told), later)
    assert (said.relation, said.confidence) == ("preprint_of", 1.0)


def test_versions_of_a_preprint_are_linked_as_versions():
    one, two = (replace(PREPRINT, ids=Ids(doi=f"10.21203/rs.3.rs-77/v{n}")) for n in (1, 2))
    assert judge_pair(one, two).relation == "version_of"


def test_a_preprint_that_could_have_become_either_of_two_is_surer_of_neither():
    later = [
        replace(REEF, title=PREPRINT.title, ids=Ids(pmid="1")),
        replace(REEF, title=PREPRINT.title, ids=Ids(pmid="2")),
    ]
    (alone,) = group_records([PREPRINT, later[0]]).links
    links = [
        link for link in group_records([PREPRINT, *later]).links if link[2].relation != "may_be"
    ]
    assert [link[2].confidence for link in links] == [round(alone[2].confidence / 2, 2)] * 2


def test_the_order_of_records_does_not_change_who_belongs_together():
    made = labelled_set(invented_papers(count=60), seed=3)
    forward = {frozenset(group) for group in group_records(made.records).groups}
    last = len(made.records) - 1
    back = group_records(made.records[::-1]).groups
    assert forward == {frozenset(last - at for at in group) for group in back}


def test_a_thousand_editorials_are_not_compared_with_each_other(monkeypatch):
    from utils.search import fused_results as paper_families

    calls = []
    judge = paper_families.judge_compared_pair
    monkeypatch.setattr(
        paper_families, "judge_compared_pair", lambda *two: calls.append(1) or judge(*two)
    )
    papers = [replace(REEF, title="Editorial", pages=str(n)) for n in range(1, 1001)]
    assert len(group_records(papers).groups) == 1000
    assert len(calls) < 20_000


def test_no_false_merge_among_invented_papers_and_few_missed():
    made = labelled_set(invented_papers())
    found = score(made, group_records(made.records).groups)
    assert found.wrong == 0, found.wrong_kinds
    assert found.recall > 0.95, found.missed_kinds


@pytest.mark.shared
@pytest.mark.lab
def test_no_false_merge_among_recorded_papers_and_few_missed(shared):
    made = labelled_set(distinct_papers(shared))
    found = score(made, group_records(made.records).groups)
    assert found.wrong == 0, found.wrong_kinds
    assert found.recall > 0.94, found.missed_kinds


@pytest.mark.shared
def test_real_records_of_one_paper_are_found_without_identifiers(shared):
    pairs = real_pairs(shared)
    assert pairs
    assert {judge_pair(*pair).relation for pair in pairs} == {"same"}
