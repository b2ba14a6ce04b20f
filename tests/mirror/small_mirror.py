"""A small PubMed: files of a few records, made for a test, and a mirror of them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.corpus.small_corpus import LetterEmbedder
from tests.world import World
from tests.world.pubmed_files import Bulk, name_of, packed
from utils import Library
from utils.mirror import Mirror
from utils.mirror.pubmed import MirrorProgress


def article(pmid: int, title: str = "", version: int = 1) -> str:
    """A record as short as may be."""
    text = title or f"Title {pmid}"
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="{version}">{pmid}</PMID><Article>'
        "<Journal><Title>Annals</Title><JournalIssue><PubDate><Year>2020</Year></PubDate>"
        f"</JournalIssue></Journal><ArticleTitle>{text}</ArticleTitle><Abstract><AbstractText>"
        f"What {text} says of corals.</AbstractText></Abstract></Article></MedlineCitation>"
        "</PubmedArticle>"
    )


RICH = """<PubmedArticle><MedlineCitation><PMID Version="1">31</PMID><DateRevised>
<Year>2021</Year>
<Month>03</Month><Day>04</Day></DateRevised><Article PubModel="Print"><Journal>
<ISSN>1234-5678</ISSN>
<JournalIssue><Volume>7</Volume><Issue>2</Issue><PubDate>
<MedlineDate>1998 Dec-1999 Jan</MedlineDate>
</PubDate></JournalIssue><Title>Annals of things</Title></Journal><ArticleTitle>On
<i>H</i><sub>2</sub>O.</ArticleTitle><Pagination><MedlinePgn>11-9</MedlinePgn></Pagination>
<ELocationID EIdType="doi">10.1000/rich</ELocationID><Abstract><AbstractText Label="AIM">To see.
</AbstractText><AbstractText Label="RESULTS">We saw 10<sup>2</sup> of them.</AbstractText>
</Abstract>
<AuthorList><Author><LastName>Żak</LastName><ForeName>Ada</ForeName><Initials>A</Initials>
<Identifier Source="ORCID">0000000218250097</Identifier><AffiliationInfo><Affiliation>Lab, Łódź.
</Affiliation></AffiliationInfo></Author><Author><CollectiveName>The Group</CollectiveName>
</Author>
</AuthorList><Language>eng</Language><Language>pol</Language><PublicationTypeList>
<PublicationType>
Retracted Publication</PublicationType></PublicationTypeList></Article><MedlineJournalInfo>
<MedlineTA>
Ann Things</MedlineTA></MedlineJournalInfo><CommentsCorrectionsList><CommentsCorrections
RefType="RetractionIn"><RefSource>Ann Things. 2020</RefSource><PMID>32</PMID>
</CommentsCorrections>
</CommentsCorrectionsList><MeshHeadingList><MeshHeading><DescriptorName MajorTopicYN="N">Water
</DescriptorName><QualifierName MajorTopicYN="Y">chemistry</QualifierName></MeshHeading>
</MeshHeadingList><OtherAbstract Type="Publisher" Language="pol">
<AbstractText>Woda.</AbstractText>
</OtherAbstract><KeywordList><Keyword>water</Keyword></KeywordList></MedlineCitation><PubmedData>
<History><PubMedPubDate PubStatus="entrez"><Year>1999</Year><Month>1</Month><Day>2</Day>
</PubMedPubDate></History><ArticleIdList><ArticleId IdType="pmc">PMC77</ArticleId></ArticleIdList>
<ReferenceList><Reference><Citation>Another.</Citation><ArticleIdList>
<ArticleId IdType="pubmed">30</ArticleId></ArticleIdList></Reference></ReferenceList></PubmedData>
</PubmedArticle>"""
"""A record with something of everything."""


def articles(pmids: Iterable[int], title: str = "") -> bytes:
    """A file of such records."""
    return packed(article(pmid, title and f"{title} {pmid}") for pmid in pmids)


def year(number: int = 26, files: int = 3, each: int = 4) -> Bulk:
    """A baseline: ``each`` records a file, PMIDs from 1 on."""
    made = Bulk()
    for at in range(files):
        pmids = range(at * each + 1, (at + 1) * each + 1)
        made.baseline[name_of(number, at + 1)] = articles(pmids, f"20{number}")
    made.last = name_of(number, files)
    return made


def mirror_of(world: World, folder: Path, **more: Any) -> Mirror:
    """A mirror of the world's files, in a folder."""
    addresses: dict[str, Any] = {name.lower(): to for name, to in world.environment().items()}
    places = {"papers_dir": folder / "papers", "papers_pace_dir": folder / "pace"}
    return Library(**addresses, **places, **more).mirror


def updated(mirror: Mirror, **options: Any) -> MirrorProgress:
    """The end of an update."""
    return [*mirror.update(**options)][-1]


def titles(mirror: Mirror) -> dict[int, str]:
    """What is live, by PMID."""
    rows = mirror.sql().sql("SELECT pmid, title FROM records ORDER BY pmid").fetchall()
    return dict(rows)


def bytes_of(mirror: Mirror) -> dict[str, bytes]:
    """Every file that is part of the result, by name; times of making are none."""
    return {
        str(path.relative_to(mirror.folder)): path.read_bytes()
        for place in ("part", "generation")
        for path in sorted((mirror.folder / place).rglob("*.parquet"))
        if path.name != "manifest.parquet"
    }


class Counting(LetterEmbedder):
    """One that says which texts it was given."""

    def __init__(self, model="letters-1"):
        self.model, self.texts = model, []

    def embed(self, texts):
        self.texts += texts
        return super().embed(texts)

    def embed_question(self, text):
        return super().embed([text])[0]
