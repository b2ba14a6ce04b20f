"""Papers of which only the abstract, or something that is not the paper, can be had."""

from utils.demo.papers import BOOKS, MEMBRANE, OLD, SIGNALS, TISSUE, paper
from utils.demo.papers import BY_BRANCH as DEMO

PAPERS = [
    DEMO["abstract_only"],
    paper(29, "no_abstract", "Notes on the spleen in febrile periodicity", OLD, topic="malaria",
        pmid="5100029", doi="", abstract="none", published="1967-01-01", entered="1967-01-01"),
    paper(30, "book_chapter", "Care of the perfused bone core", BOOKS, topic="bone", kind="book",
        doi="", types=("Study Guide", "Review"), abstract="plain"),
    DEMO["paywall"],
    paper(32, "scanned_pdf", "Herbarium sheets and phyllid angle", OLD, topic="moss",
        unpaywall="scan", site="summit", page="scan", core="bare"),
    DEMO["wrong_paper"],
    paper(34, "html_as_pdf", "Larval settlement follows alkalinity anomaly", TISSUE, topic="coral",
        unpaywall="fake_pdf", site="harbour", page="html_as_pdf", core="walled"),
    paper(35, "front_matter_only", "Interferon escape in wastewater samples", MEMBRANE,
        topic="virus", pmcid="PMC9100035", efetch="front", site="meadow", page="front_matter"),
    paper(36, "partial", "Perceptual fading in amblyopic adults", SIGNALS, topic="vision",
        site="summit", page="partial", core="stub"),
    paper(37, "gone", "Earthworm casts in beech plots", TISSUE, topic="soil", page="gone",
        core="text"),
]  # fmt: skip

_WALLS = (
    ("captcha_200", "Titres after the second spring", "virus", "harbour"),
    ("bot_check", "Pollen diversity at the orchard edge", "bee", "summit"),
    ("cookie_wall", "Saccades without intention", "vision", "meadow"),
    ("login", "Artemisinin delay in cultured parasites", "malaria", "harbour"),
    ("error_page", "Growth steps of nacre", "crystal", "summit"),
)
_SEEN = {"bot_check": "doi", "cookie_wall": "walled"}
PAPERS += [
    DEMO["captcha"],
    *(
        paper(
            *(39 + at, wall, title, SIGNALS),
            topic=topic,
            site=site,
            page=wall,
            scholar=_SEEN.get(wall, ""),
        )
        for at, (wall, title, topic, site) in enumerate(_WALLS)
    ),
]
PAPERS += [
    paper(
        44,
        "jina_blocked",
        "Root exudation and necromass carbon",
        TISSUE,
        topic="soil",
        site="meadow",
        page="forbidden",
        jina="blocked",
    ),
    paper(
        45,
        "unpaywall_landing",
        "Cone opsin drift in macaque observers",
        MEMBRANE,
        topic="vision",
        unpaywall="landing",
        site="harbour",
    ),
]
