"""What stands on publishers' pages and is not the article."""

from __future__ import annotations

_PAPERS = (
    ("Moss cover and the survival of trout eggs in upland streams", "Brandt, Osei and Liu"),
    ("A randomised trial of evening light in night-shift nurses", "Haddad et al."),
    ("Sequencing of four mountain goat genomes shows old admixture", "Ferrari, Novak"),
    ("Cost of home visits after hip replacement: a registry study", "Jansen and Okafor"),
    ("Deep learning finds pulmonary nodules on low-dose scans", "Zhao, Meyer, Silva"),
    ("Knowledge of rabies among cattle farmers in the lowlands", "Tesfaye et al."),
    ("Tumour budding predicts relapse in early colon cancer", "Moreau, Klein, Park"),
    ("Statins and muscle pain: what blinded crossovers tell", "Larsen and Gupta"),
    ("Wind farms and the autumn passage of noctule bats", "Weber, Kowalski"),
    ("Biofilms on catheters under intermittent flow", "Nakamura, Duarte et al."),
)
_TEASER = (
    "Little is known about how this comes about in the field. Here the authors follow two cohorts"
    " over six years and show that most of the difference is explained by where people live."
)


def related(count: int = 6, item: str = "<li>{}</li>", teasers: bool = False) -> str:
    """Other papers one might read."""
    made = []
    for number in range(count):
        title, names = _PAPERS[number % len(_PAPERS)]
        teaser = f"<p>{_TEASER}</p>" if teasers else ""
        link = f'<a href="/content/{4000 + number}">{title}</a><span> {names}</span>{teaser}'
        made.append(item.format(link))
    return "".join(made)


def cookies() -> str:
    """A banner that asks for consent."""
    return (
        "<p>We use cookies and similar technologies to make this website work, to analyse how it"
        " is used and to show content that suits you. You may accept all of them, refuse those"
        " that are optional, or manage your preferences at any time.</p>"
        "<a href='#'>Accept all</a> <a href='#'>Refuse</a>"
    )


def share() -> str:
    """Buttons to tell others."""
    names = ("Facebook", "X", "LinkedIn", "Reddit", "WeChat", "Email")
    return "".join(f"<li><a href='https://share.test/{name}'>{name}</a></li>" for name in names)


def metrics() -> str:
    """How often it was read."""
    return (
        "<span>12,345</span> <span>Views</span> <span>678</span> <span>Downloads</span>"
        " <span>91</span> <span>Citations</span> <span>23</span> <span>Altmetric</span>"
    )


def biography(name: str) -> str:
    """A panel about an author."""
    return (
        f"{name} studied medicine in two countries, leads a research group on chronic disease, and"
        " has published more than sixty papers. Outside the laboratory there are a garden, a choir"
        " and two dogs. Search for other works by this author on: this site, PubMed, Google"
        " Scholar."
    )


def report(number: int) -> str:
    """What a referee wrote."""
    return (
        "<p>The authors present a careful piece of work on a question that matters to many"
        " readers of the journal. I enjoyed reading it, and have a few concerns that should be"
        " addressed before I can approve it without reservations.</p><p>First, the rationale for"
        " the choice of the comparison group is thin: please say why people who declined were not"
        " followed. Second, the power calculation seems to rest on a pilot that is not described."
        " Third, several sentences of the discussion claim causes where the design only allows"
        f" associations (see page {number + 3}).</p><p>I have read this submission. I believe that"
        " I have an appropriate level of expertise to confirm that it is of an acceptable"
        " scientific standard, however I have significant reservations, as outlined above.</p>"
    )


def comment() -> str:
    """What a reader wrote."""
    return (
        "<p>Thank you for this. We saw the same in our own clinic last winter, though with fewer"
        " patients, and wondered whether the season plays a part in it. Have the authors looked"
        " at that? Competing interests: none declared.</p>"
    )


def alerts() -> str:
    """What the journal would send."""
    return (
        "<p>Sign up for alerts and receive an email when new articles, issues and citations are"
        " published. You can unsubscribe at any time.</p>"
    )


def footer() -> str:
    """The end of every page of a site."""
    names = ("About us", "Contact", "Help", "Privacy policy", "Terms of use", "Accessibility",
             "For authors", "For librarians", "Advertise", "Jobs")  # fmt: skip
    links = "".join(f"<li><a href='/{number}'>{name}</a></li>" for number, name in enumerate(names))
    return f"<ul>{links}</ul><p>Copyright 2026 the publisher. All rights reserved.</p>"
