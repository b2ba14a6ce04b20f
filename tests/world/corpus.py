"""The papers of the small world: one for every branch of the ladder. All of it is invented."""

from __future__ import annotations

from typing import Any

from .records import Corpus, Journal, Record

MEMBRANE = Journal(
    "Journal of Membrane Traffic", "J Membr Traffic", "2917-0012", "Meadow Press", "10.9101"
)
TISSUE = Journal("Annals of Tissue Ecology", "Ann Tissue Ecol", "2917-0039", "Harbour", "10.9102")
SIGNALS = Journal("Signals and Cells", "Signals Cells", "2917-0047", "Summit", "10.9103")
OLD = Journal("Proceedings in Old Medicine", "Proc Old Med", "0917-0055", "Harbour", "10.9104")
ARXIV = Journal("arXiv", "arXiv", "", "arXiv", "10.48550")
BOOKS = Journal("Field Guide to the Clinic", "Field Guide Clin", "", "Meadow Press", "10.9105")

_PEOPLE = (
    (("Varga", "Ilona M"), ("Okonkwo", "Chidi"), ("Lindqvist", "Per")),
    (("Sørensen", "Åse"), ("Nakagawa", "Rin"), ("Delgado-Ruiz", "Tomás E")),
    (("Abernathy", "Joan"), ("Petrović", "Zoran"), ("Wu", "Mei-Ling"), ("Kaplan", "Daniel")),
    (("Müller", "Jürgen"), ("O'Leary", "Niamh")),
    (("Haddad", "Samir"), ("Van der Berg", "Lotte"), ("Achterberg", "Jo")),
)
_JATS = frozenset({"table", "formula", "figure", "greek", "box"})


def _paper(number: int, branch: str, title: str, journal: Journal, **more: Any) -> Record:
    """A paper with identifiers, people and dates that follow from its number."""
    month, day = 1 + number % 12, 1 + number * 7 % 28
    given = {
        "topic": "moss",
        "pmid": f"4100{number:04d}",
        "doi": f"{journal.prefix}/{journal.short.split()[0].lower()}.2025.{number:04d}",
        "authors": _PEOPLE[number % len(_PEOPLE)],
        "published": f"2025-{month:02d}-{day:02d}",
        "entered": f"2025-{month:02d}-{min(day + 2, 28):02d}",
        "pages": f"{number * 10 + 1}-{number * 10 + 9}",
    }
    return Record(branch=branch, title=title, journal=journal, **{**given, **more})


def _from_pmc() -> list[Record]:
    """Papers PMC, in one of its ways, gives away."""
    return [
        _paper(
            1,
            "pmc_cloud",
            "CXCL12–CXCR4 signalling steers progenitors in bone marrow slices",
            SIGNALS,
            topic="chemokine",
            pmcid="PMC9100001",
            cloud=(1,),
            efetch="body",
            europepmc=True,
            features=_JATS,
            mesh=("Chemokine CXCL12", "Receptors, CXCR4", "Cell Movement"),
            keywords=("chemotaxis", "signaling", "ligand binding"),
            collective="MARROW Study Group",
        ),
        _paper(
            2,
            "pmc_cloud_versions",
            "Shedding of PD-L1 limits PD-1 clustering on CD8 T cells",
            SIGNALS,
            topic="checkpoint",
            pmcid="PMC9100002",
            cloud=(1, 2, 10),
            efetch="body",
            license="CC BY-NC-ND",
            mesh=("B7-H1 Antigen", "Programmed Cell Death 1 Receptor"),
            keywords=("PDCD1", "CD274", "interaction"),
        ),
        _paper(
            3,
            "pmc_manuscript",
            "EGF pulses train EGFR recycling in mammary acini",
            MEMBRANE,
            topic="kinase",
            pmcid="PMC9100003",
            cloud=(1,),
            efetch="body",
            manuscript=True,
            license="TDM",
            mesh=("ErbB Receptors", "Epidermal Growth Factor"),
            keywords=("signaling", "pathway"),
        ),
        _paper(
            4,
            "efetch_only",
            "Vacuolar acidity and the replicative age of yeast daughters",
            TISSUE,
            topic="yeast",
            pmcid="PMC9100004",
            efetch="body",
            features=frozenset({"table", "figure"}),
            mesh=("Saccharomyces cerevisiae", "Cellular Senescence"),
        ),
        _paper(
            5,
            "europepmc_only",
            "Slow wave slope predicts dream recall in night shift nurses",
            TISSUE,
            topic="sleep",
            pmcid="PMC9100005",
            efetch="front",
            europepmc=True,
            mesh=("Sleep", "Dreams"),
            features=frozenset({"greek", "table"}),
        ),
        _paper(
            6,
            "embargoed",
            "Butyrate supply and barrier leak in gnotobiotic mice",
            MEMBRANE,
            topic="gut",
            pmcid="PMC9100006",
            efetch="front",
            released="2027-03-04",
            mesh=("Butyrates",),
        ),
        _paper(
            7,
            "retracted",
            "Titin stiffness reverses atrial fibrosis in septal biopsies",
            TISSUE,
            topic="heart",
            pmcid="PMC9100007",
            cloud=(1,),
            efetch="body",
            types=("Journal Article", "Retracted Publication"),
            notices=(("RetractionIn", "Ann Tissue Ecol. 2025;13(1):1", "41000008"),),
        ),
        _paper(
            8,
            "retraction_notice",
            "Retraction: Titin stiffness reverses atrial fibrosis in septal biopsies",
            TISSUE,
            topic="heart",
            pmcid="PMC9100008",
            cloud=(1,),
            efetch="body",
            kind="notice",
            abstract="none",
            words=90,
            types=("Retraction Notice",),
            authors=(),
            notices=(("RetractionOf", "Ann Tissue Ecol. 2025;12(3):71-79", "41000007"),),
        ),
        _paper(
            9,
            "concern",
            "Clothianidin residues and waggle dance errors in apple orchards",
            TISSUE,
            topic="bee",
            pmcid="PMC9100009",
            cloud=(1,),
            efetch="body",
            notices=(("ExpressionOfConcernIn", "Ann Tissue Ecol. 2025;13(2):9", ""),),
            mesh=("Bees", "Neonicotinoids"),
        ),
        _paper(
            10,
            "correction_notice",
            "Correction: Skeletal density of staghorn fragments after bleaching",
            TISSUE,
            topic="coral",
            pmcid="PMC9100010",
            cloud=(1,),
            efetch="body",
            kind="notice",
            abstract="none",
            words=70,
            types=("Published Erratum",),
            notices=(("ErratumFor", "Ann Tissue Ecol. 2025;12(3):131-139", "41000013"),),
        ),
        _paper(
            11,
            "editorial",
            "What moss can teach a walled city",
            TISSUE,
            topic="moss",
            pmcid="PMC9100011",
            cloud=(1,),
            efetch="body",
            kind="editorial",
            abstract="none",
            words=400,
            types=("Editorial",),
        ),
        _paper(
            12,
            "non_english",
            "[Trabecular spacing and fracture closure after rhythmic loading].",
            OLD,
            topic="bone",
            pmcid="PMC9100012",
            cloud=(1,),
            efetch="body",
            language="ger",
            vernacular="Trabekelabstand und Frakturheilung nach rhythmischer Belastung",
            mesh=("Fracture Healing",),
        ),
    ]


def _from_elsewhere() -> list[Record]:
    """Papers that preprint servers, repositories or their publishers give away."""
    return [
        _paper(
            13,
            "publisher_html",
            "Skeletal density of <i>Acropora</i> fragments after bleaching",
            TISSUE,
            topic="coral",
            site="meadow",
            page="article",
            features=_JATS,
            notices=(("ErratumIn", "Ann Tissue Ecol. 2025;12(4):5", "41000010"),),
            mesh=("Anthozoa",),
        ),
        _paper(
            14,
            "arxiv",
            "Nucleation lag in levitated droplets: a model of impurity pinning",
            ARXIV,
            topic="crystal",
            arxiv="2511.04014",
            doi="10.48550/arXiv.2511.04014",
            pmid="",
            features=frozenset({"formula", "greek"}),
            unpaywall="unknown",
        ),
        _paper(
            15,
            "arxiv_published",
            "Contrast gain control without amacrine inhibition",
            MEMBRANE,
            topic="vision",
            arxiv="2509.11015",
            page="paywall",
        ),
        _paper(
            16,
            "unpaywall_pdf",
            "Gametocyte conversion in asymptomatic carriers",
            MEMBRANE,
            topic="malaria",
            unpaywall="pdf",
            page="paywall",
            mesh=("Malaria, Falciparum",),
        ),
        _paper(
            17,
            "unpaywall_html",
            "Nitrous oxide bursts after drought in prairie cores",
            TISSUE,
            topic="soil",
            unpaywall="html",
            site="harbour",
            page="paywall",
        ),
        _paper(
            18,
            "unpaywall_pmc_url",
            "Capsid uncoating and plaque size in airway cultures",
            TISSUE,
            topic="virus",
            pmcid="PMC9100018",
            efetch="body",
            unpaywall="pmc",
            page="paywall",
        ),
        _paper(
            19,
            "publisher_pdf",
            "Turn-taking gaps between toddlers and interpreters",
            SIGNALS,
            topic="language",
            site="summit",
            page="pdf",
        ),
        _paper(
            20,
            "publisher_multi_hop",
            "Brood temperature governs forager age",
            MEMBRANE,
            topic="bee",
            site="harbour",
            page="multi_hop",
            features=frozenset({"table"}),
        ),
        _paper(
            21,
            "publisher_meta_refresh",
            "Mucus turnover in coral nurseries",
            TISSUE,
            topic="coral",
            site="summit",
            page="meta_refresh",
        ),
        _paper(
            22,
            "publisher_picky",
            "Lexical access under bilingual switching",
            SIGNALS,
            topic="language",
            site="meadow",
            page="picky",
        ),
        _paper(
            23,
            "jina_only",
            "Sclerostin release at low loading frequency",
            MEMBRANE,
            topic="bone",
            site="harbour",
            page="forbidden",
        ),
        _paper(
            24,
            "doi_only",
            "Tuft cell number and crypt fission in colon organoids",
            SIGNALS,
            topic="gut",
            pmid="",
            site="meadow",
            page="article",
            abstract="plain",
        ),
        _paper(
            25,
            "sici",
            "Wall stress and conduction velocity in Langendorff hearts",
            OLD,
            topic="heart",
            pmid="9100025",
            doi="10.9104/(SICI)1097-0258(19980815/30)17:15/16<1661::AID-SIM968>3.0.CO;2-2",
            published="1998-08-15",
            entered="1998-08-20",
            site="harbour",
            page="article",
        ),
        _paper(
            26,
            "same_file_name",
            "Symbiont expulsion on reef flats at night",
            TISSUE,
            topic="coral",
            doi="10.9102/twin_a/1",
            site="meadow",
            page="article",
        ),
        _paper(
            27,
            "same_file_name",
            "Aggregate stability of fallow fields in spring",
            TISSUE,
            topic="soil",
            doi="10.9102/twin/a_1",
            site="meadow",
            page="article",
        ),
    ]


def _without_full_text() -> list[Record]:
    """Papers of which only the abstract, or something that is not the paper, can be had."""
    bad = [
        _paper(
            28,
            "abstract_only",
            "Adenosine build-up in thalamic slices",
            MEMBRANE,
            topic="sleep",
            doi="",
            abstract="structured",
            mesh=("Adenosine",),
        ),
        _paper(
            29,
            "no_abstract",
            "Notes on the spleen in febrile periodicity",
            OLD,
            topic="malaria",
            pmid="5100029",
            doi="",
            abstract="none",
            published="1967-01-01",
            entered="1967-01-01",
        ),
        _paper(
            30,
            "book_chapter",
            "Care of the perfused bone core",
            BOOKS,
            topic="bone",
            kind="book",
            doi="",
            types=("Study Guide", "Review"),
            abstract="plain",
        ),
        _paper(
            31,
            "paywall",
            "Ripple coupling and memory consolidation",
            MEMBRANE,
            topic="sleep",
            site="harbour",
            page="paywall",
        ),
        _paper(
            32,
            "scanned_pdf",
            "Herbarium sheets and phyllid angle",
            OLD,
            topic="moss",
            unpaywall="scan",
            site="summit",
            page="scan",
        ),
        _paper(
            33,
            "wrong_paper",
            "Iron regulon activity of petite mutants",
            TISSUE,
            topic="yeast",
            site="summit",
            page="wrong_paper",
        ),
        _paper(
            34,
            "html_as_pdf",
            "Larval settlement follows alkalinity anomaly",
            TISSUE,
            topic="coral",
            unpaywall="fake_pdf",
            site="harbour",
            page="html_as_pdf",
        ),
        _paper(
            35,
            "front_matter_only",
            "Interferon escape in wastewater samples",
            MEMBRANE,
            topic="virus",
            pmcid="PMC9100035",
            efetch="front",
            site="meadow",
            page="front_matter",
        ),
        _paper(
            36,
            "partial",
            "Receptive field size in amblyopic adults",
            SIGNALS,
            topic="vision",
            site="summit",
            page="partial",
        ),
        _paper(37, "gone", "Earthworm casts in beech plots", TISSUE, topic="soil", page="gone"),
    ]
    walls = ("captcha", "captcha_200", "bot_check", "cookie_wall", "login", "error_page")
    titles = (
        "Echoes of calcium sparks",
        "Titres after the second spring",
        "Pollen diversity at the field edge",
        "Saccades without intention",
        "Artemisinin delay in cultured parasites",
        "Growth steps of nacre",
    )
    topics = ("heart", "virus", "bee", "vision", "malaria", "crystal")
    sites = ("meadow", "harbour", "summit") * 2
    walled = [
        _paper(
            38 + at,
            wall,
            titles[at],
            SIGNALS,
            topic=topics[at],
            site=sites[at],
            page=wall,
            jina="warning",
        )
        for at, wall in enumerate(walls)
    ]
    return bad + walled


def small_corpus() -> Corpus:
    """About forty papers, one or more for each branch."""
    return Corpus([*_from_pmc(), *_from_elsewhere(), *_without_full_text()])
