"""arXiv's archives and subject classes, the values of ``cat:``.

https://arxiv.org/category_taxonomy; closed archives, under which old papers still are:
https://info.arxiv.org/help/arxiv_identifier.html
"""

from __future__ import annotations

from difflib import get_close_matches

from ...errors import BadRequest

_CLASSES = {
    "astro-ph": "CO EP GA HE IM SR",
    "cond-mat": "dis-nn mes-hall mtrl-sci other quant-gas soft stat-mech str-el supr-con",
    "cs": "AI AR CC CE CG CL CR CV CY DB DC DL DM DS ET FL GL GR GT HC IR IT LG LO MA MM MS NA NE "
    "NI OH OS PF PL RO SC SD SE SI SY",
    "econ": "EM GN TH",
    "eess": "AS IV SP SY",
    "math": "AC AG AP AT CA CO CT CV DG DS FA GM GN GR GT HO IT KT LO MG MP NA NT OA OC PR QA RA "
    "RT SG SP ST",
    "nlin": "AO CD CG PS SI",
    "physics": "acc-ph ao-ph app-ph atm-clus atom-ph bio-ph chem-ph class-ph comp-ph data-an ed-ph "
    "flu-dyn gen-ph geo-ph hist-ph ins-det med-ph optics plasm-ph pop-ph soc-ph space-ph",
    "q-bio": "BM CB GN MN NC OT PE QM SC TO",
    "q-fin": "CP EC GN MF PM PR RM ST TR",
    "stat": "AP CO ME ML OT TH",
}
_WHOLE = "gr-qc hep-ex hep-lat hep-ph hep-th math-ph nucl-ex nucl-th quant-ph"
_CLOSED = (
    "acc-phys adap-org alg-geom ao-sci atom-ph bayes-an chao-dyn chem-ph cmp-lg comp-gas dg-ga "
    "funct-an mtrl-th patt-sol plasm-ph q-alg solv-int supr-con"
)
# Both were archives of their own before they had classes, and old papers are under the bare name.
_ONCE_WHOLE = ("astro-ph", "cond-mat")
_KNOWN = {
    name.lower(): name
    for name in (
        *(f"{archive}.{one}" for archive, names in _CLASSES.items() for one in names.split()),
        *_WHOLE.split(),
        *_CLOSED.split(),
    )
}


def clause(category: str) -> str:
    """The part of a query that asks for *category*: a class, or an archive with all its classes.

    >>> clause("cs.lg"), clause("q-bio"), clause("hep-ex")
    ('cat:cs.LG', 'cat:q-bio.*', 'cat:hep-ex')

    Raises
    ------
    BadRequest
        arXiv has no such category.
    """
    wanted = category.strip().lower()
    if known := _KNOWN.get(wanted):
        return f"cat:{known}"
    archive = wanted.removesuffix(".*")
    if archive in _ONCE_WHOLE:
        return f"(cat:{archive} OR cat:{archive}.*)"
    if archive in _CLASSES:
        return f"cat:{archive}.*"
    near = get_close_matches(wanted, [*_KNOWN, *_CLASSES], n=3, cutoff=0.5)
    like = " or ".join(_KNOWN.get(name, name) for name in near) or "q-bio.GN, cs.LG or hep-ex"
    msg = f"arXiv has no category {category.strip()[:40]!r}."
    raise BadRequest(msg, f"For example {like}; all of them: https://arxiv.org/category_taxonomy")
