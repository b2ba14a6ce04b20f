"""A question is asked in other words, too: shown, switched off, and never at others' expense."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.corpus.small_corpus import corpus_in, paper
from tests.databases import database_url, postgresql
from utils.corpus import Corpus
from utils.corpus.names import build_alternative_questions, merge_hits
from utils.errors import BadRequest
from utils.model.passage import Filters, PassageHit

__all__ = ["database_url", "postgresql"]

TEXTS = {
    "1": "Deep brain stimulation helps in Parkinson's disease (PD) for years.",
    "2": "Peritoneal dialysis (PD) keeps patients at home.",
    "3": "Patients on peritoneal dialysis and Parkinson's disease are rare.",
    "4": "Gait in Parkinson's disease improves with music.",
    "5": "PD of the peritoneum was measured; gait was not. Parkinson's disease (PD) also.",
    "6": "Heart attacks are fewer where statins are taken.",
    "7": "Expression of TP53 was lost in most tumours.",
}

# As NLM publishes it, see `utils.readers.nlm_lists`; a permuted term and an odd one are added.
MESH = """<?xml version="1.0"?>
<!DOCTYPE DescriptorRecordSet SYSTEM "https://www.nlm.nih.gov/databases/dtd/nlmdescriptorrecordset_20250101.dtd">
<DescriptorRecordSet LanguageCode="eng">
<DescriptorRecord DescriptorClass="1"><DescriptorUI>D009203</DescriptorUI>
<DescriptorName><String>Myocardial Infarction</String></DescriptorName>
<ConceptList><Concept PreferredConceptYN="Y"><TermList>
<Term ConceptPreferredTermYN="Y" IsPermutedTermYN="N"><String>Myocardial Infarction</String></Term>
<Term ConceptPreferredTermYN="N" IsPermutedTermYN="Y"><String>Infarction, Myocardial</String></Term>
<Term ConceptPreferredTermYN="N" IsPermutedTermYN="N"><String>Heart Attack</String></Term>
</TermList></Concept></ConceptList></DescriptorRecord>
</DescriptorRecordSet>"""
GENES = (
    "#tax_id\tGeneID\tSymbol\tLocusTag\tSynonyms\tFull_name_from_nomenclature_authority\n"
    "9606\t7157\tTP53\t-\tBCC7|LFS1|P53|TRP53\ttumor protein p53\n"
    "7\t5692769\tNEWENTRY\t-\t-\t-\n9606\tshort\n"
)
JOURNALS = """--------------------------------------------------------
JrId: 4671
JournalTitle: Journal of the American Academy of Dermatology
MedAbbr: J Am Acad Dermatol
ISSN (Print): 0190-9622
ISSN (Online): 1097-6787
IsoAbbr: J. Am. Acad. Dermatol.
NlmId: 7907132
--------------------------------------------------------
"""


@pytest.fixture
def corpus(tmp_path: Path, database_url: str) -> Iterator[Corpus]:
    made = corpus_in(tmp_path / "papers", vectors=False, database_url=database_url or None)
    dermatology = "Journal of the American Academy of Dermatology"
    papers = [paper(pmid, abstract=text, journal=dermatology) for pmid, text in TEXTS.items()]
    made.database.store_records(papers)
    list(made.index())
    yield made
    made.finder.close()
    made.database.close()
    made.shelf.close()


def found(corpus: Corpus, question: str, **options: bool) -> list[str]:
    return [one.passage.paper for one in corpus.find(question, **options).hits]


def test_what_texts_abbreviate_is_asked_for_too(corpus: Corpus) -> None:
    answer = corpus.find("gait PD music")
    assert answer.hits[0].passage.paper == "pmid:4"
    asked = [(one.term, one.other) for one in answer.wordings]
    assert asked == [("PD", "Parkinson's disease"), ("PD", "Peritoneal dialysis")]
    assert answer.wordings[0].question == "gait Parkinson's disease music"
    assert "pmid:3" in found(corpus, "home PD")
    assert "pmid:3" not in found(corpus, "home PD", widen=False)
    assert not corpus.find("home PD", widen=False).wordings


def test_the_question_itself_comes_first(corpus: Corpus) -> None:
    assert found(corpus, "PD peritoneum measured gait")[0] == "pmid:5"
    assert found(corpus, "peritoneal dialysis home")[0] == "pmid:2"


@pytest.mark.parametrize("question", ["pd gait", "Pd of it", "gait", "PD " * 500, "()", "PD?"])
def test_small_letters_and_odd_questions_are_no_abbreviations(
    corpus: Corpus, question: str
) -> None:
    asked = [one.term for one in corpus.find(f"{question} music").wordings]
    assert len(asked) <= 3
    assert all(set(one.split()) <= {"PD"} for one in asked)
    assert asked or "PD" not in question


def test_other_words_are_no_doubt_about_what_was_found(corpus: Corpus) -> None:
    answer = corpus.find("PD")
    assert answer.hits
    assert not any("Perhaps nothing" in one for one in answer.warnings)


def test_nlms_lists_are_learned(corpus: Corpus, tmp_path: Path) -> None:
    assert "pmid:6" not in found(corpus, "myocardial infarction")
    files = {"desc2026.xml": MESH, "Homo_sapiens.gene_info": GENES, "J_Medline.txt": JOURNALS}
    counts = {}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        counts[name] = corpus.learn(tmp_path / name)
    assert counts == {"desc2026.xml": 2, "Homo_sapiens.gene_info": 10, "J_Medline.txt": 5}
    answer = corpus.find("myocardial infarction and age")
    assert answer.hits[0].passage.paper == "pmid:6"
    assert [one.other for one in answer.wordings] == ["Heart Attack"]
    assert found(corpus, "p53 in lymphoma")[0] == "pmid:7"
    assert found(corpus, "tumor protein p53")[0] == "pmid:7"
    for journal in ("J Am Acad Dermatol", "0190-9622", "1097-6787"):
        assert len(corpus.find("PD", filters=Filters(journal=journal)).hits)
    # What texts themselves say comes before what lists say, learned twice or not.
    (tmp_path / "again.xml").write_text(MESH.replace("Heart Attack", "PD"), encoding="utf-8")
    corpus.learn(tmp_path / "again.xml")
    corpus.learn(tmp_path / "desc2026.xml")
    first = corpus.find("PD gait").wordings[0]
    assert first.other == "Parkinson's disease"


def test_lists_come_compressed_and_what_is_none_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    packed = tmp_path / "desc.gz"
    packed.write_bytes(gzip.compress(MESH.encode()))
    assert corpus.learn(packed) == 2
    torn = {
        "torn.gz": packed.read_bytes()[:-40],
        "torn.xml": MESH.encode()[:-60],
        "bomb.xml": MESH.replace(
            "<DescriptorRecordSet", '<!ENTITY a "&b;"><DescriptorRecordSet', 1
        ).encode(),
        "some.pdf": b"%PDF-1.7",
        "empty.txt": b"",
        "plain.txt": b"Heart attack\tMyocardial infarction\n",
    }
    for name, data in torn.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(BadRequest, match=name.partition(".")[0]):
            corpus.learn(tmp_path / name)


def test_a_term_is_exchanged_where_it_is_longest_and_once() -> None:
    names = {"growth hormon": [("GH", 3)], "growth hormon receptor": [("GHR", 1)]}
    made = build_alternative_questions(
        "growth hormone receptor loss", lambda forms: {f: names[f] for f in forms if f in names}
    )
    assert [one.question for one in made] == ["GHR loss"]
    assert made[0].term == "growth hormone receptor"


def test_a_passage_counts_by_the_wording_it_answers_best() -> None:
    first, other = (
        [PassageHit("a", "p", 1.0), PassageHit("b", "p", 0.5)],
        [PassageHit("b", "p", 1.0), PassageHit("c", "p", 0.1)],
    )
    hits = merge_hits([first, other], 2)
    assert [(hit.uuid, round(hit.score, 2)) for hit in hits] == [("a", 1.0), ("b", 0.9)]
