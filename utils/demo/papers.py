"""The demo's papers, all invented: each shows another route to a text, or has no text."""

from typing import Any

from .records import Journal, Record

MEMBRANE = Journal(
    "Journal of Membrane Traffic", "J Membr Traffic", "2917-0012", "Meadow Press", "10.9101"
)
TISSUE = Journal("Annals of Tissue Ecology", "Ann Tissue Ecol", "2917-0039", "Harbour", "10.9102")
SIGNALS = Journal("Signals and Cells", "Signals Cells", "2917-0047", "Summit", "10.9103")
OLD = Journal("Proceedings in Old Medicine", "Proc Old Med", "0917-0055", "Harbour", "10.9104")
ARXIV = Journal("arXiv", "arXiv", "", "arXiv", "10.48550")
BIORXIV = Journal("bioRxiv", "bioRxiv", "", "Preprints in Common", "10.1101")
SQUARE = Journal("Research Square", "Research Square", "", "Square", "10.21203")
BOOKS = Journal("Field Guide to the Clinic", "Field Guide Clin", "", "Meadow Press", "10.9105")

_PEOPLE = (
    (("Varga", "Ilona M"), ("Okonkwo", "Chidi"), ("Lindqvist", "Per")),
    (("Sørensen", "Åse"), ("Nakagawa", "Rin"), ("Delgado-Ruiz", "Tomás E")),
    (("Abernathy", "Joan"), ("Petrović", "Zoran"), ("Wu", "Mei-Ling"), ("Kaplan", "Daniel")),
    (("Müller", "Jürgen"), ("O'Leary", "Niamh")),
    (("Haddad", "Samir"), ("Van der Berg", "Lotte"), ("Achterberg", "Jo")),
)
RICH = frozenset({"table", "formula", "figure", "greek", "box"})


def paper(number: int, branch: str, title: str, journal: Journal, **more: Any) -> Record:
    """Return a paper whose identifiers, authors and dates are derived from its number."""
    month, day = 1 + number % 12, 1 + number * 7 % 28
    given = {
        "topic": "moss", "pmid": f"4100{number:04d}",
        "doi": f"{journal.prefix}/{journal.short.split()[0].lower()}.2025.{number:04d}",
        "authors": _PEOPLE[number % len(_PEOPLE)], "published": f"2025-{month:02d}-{day:02d}",
        "entered": f"2025-{month:02d}-{min(day + 2, 28):02d}",
        "pages": f"{number * 10 + 1}-{number * 10 + 9}",
    }  # fmt: skip
    return Record(branch=branch, title=title, journal=journal, **{**given, **more})


QUERY = "bone OR coral OR heart OR sleep OR yeast"
PAPERS = [
    paper(1, "pmc_cloud", "CXCL12–CXCR4 signalling steers progenitors in bone marrow slices",
        SIGNALS, topic="chemokine", pmcid="PMC9100001", cloud=(1,), efetch="body", europepmc=True,
        features=RICH, mesh=("Chemokine CXCL12", "Receptors, CXCR4", "Cell Movement"),
        keywords=("chemotaxis", "signaling", "ligand binding"), collective="MARROW Study Group"),
    paper(4, "efetch_only", "Vacuolar acidity and the replicative age of yeast daughters", TISSUE,
        topic="yeast", pmcid="PMC9100004", efetch="body", features=frozenset({"table", "figure"}),
        mesh=("Saccharomyces cerevisiae", "Cellular Senescence")),
    paper(7, "retracted", "Titin stiffness reverses atrial fibrosis in septal biopsies", TISSUE,
        topic="heart", pmcid="PMC9100007", cloud=(1,), efetch="body", types=("Journal Article",
        "Retracted Publication"), notices=(("RetractionIn", "Ann Tissue Ecol. 2025;13(1):1",
        "41000008"),)),
    paper(13, "publisher_html", "Skeletal density of <i>Acropora</i> fragments after bleaching",
        TISSUE, topic="coral", site="meadow", page="article", features=RICH, notices=(("ErratumIn",
        "Ann Tissue Ecol. 2025;12(4):5", "41000010"),), mesh=("Anthozoa",)),
    paper(23, "jina_only", "Sclerostin release at low loading frequency", MEMBRANE, topic="bone",
        site="harbour", page="forbidden"),
    paper(28, "abstract_only", "Adenosine build-up in thalamic slices", MEMBRANE, topic="sleep",
        doi="", abstract="structured", mesh=("Adenosine",)),
    paper(31, "paywall", "Ripple coupling and memory consolidation", MEMBRANE, topic="sleep",
        site="harbour", page="paywall", core="file"),
    paper(33, "wrong_paper", "Iron regulon activity of petite mutants", TISSUE, topic="yeast",
        site="summit", page="wrong_paper", core="other"),
    paper(38, "captcha", "Echoes of calcium sparks", SIGNALS, topic="heart", site="meadow",
        page="captcha"),
]  # fmt: skip
BY_BRANCH = {paper.branch: paper for paper in PAPERS}
