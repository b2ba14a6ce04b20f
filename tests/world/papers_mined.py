"""Papers of publishers' services and links for text mining, and one behind a dead link."""

from utils.demo.papers import MEMBRANE, OLD, SIGNALS, TISSUE, paper

PAPERS = [
    paper(67, "elsevier_subscribed", "Rim ice and the <i>Physcomitrium</i> gametophore", MEMBRANE,
        doi="10.1016/j.moss.2025.0067", license="", site="harbour", mined="elsevier"),
    paper(61, "elsevier_open", "Open sporophytes under frost", TISSUE,
        doi="10.1016/j.moss.2025.0061", site="harbour", mined="elsevier"),
    paper(62, "elsevier_imprint", "A society's moss in the publisher's service", OLD,
        doi="10.1053/j.moss.2025.0062", license="", site="harbour", mined="elsevier"),
    paper(63, "wiley_subscribed", "Calyptra wax and the capsule's humidity", SIGNALS,
        doi="10.1002/moss.2025.0063", license="", site="summit", mined="wiley"),
    paper(64, "springer_open", "Paraphyllia of epiphytic mosses", SIGNALS,
        doi="10.1186/s2025-0064-x", site="summit", mined="springer"),
    paper(65, "springer_subscribed", "Rhizoids that anchor on glass", TISSUE,
        doi="10.1038/s2025-0065-x", license="", site="summit", mined="springer"),
    paper(66, "archived", "A repository that moved house", OLD, unpaywall="dead", site="harbour"),
    paper(68, "crossref_mined", "Costa and lamina under the microscope", TISSUE, license="",
        site="meadow", page="captcha", mined="crossref"),
    paper(69, "crossref_embargo", "A lamina that may be mined next year", TISSUE, license="",
        site="meadow", page="captcha", mined="crossref_later"),
    paper(70, "openalex_kept", "Elaters, kept by an index of works", TISSUE, site="meadow",
        page="captcha", openalex_file="pdf"),
    paper(71, "openalex_page", "A wall that was kept for a paper", TISSUE, site="meadow",
        page="captcha", openalex_file="page"),
]  # fmt: skip
