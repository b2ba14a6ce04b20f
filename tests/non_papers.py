"""Twelve files that an older program saved as papers and that are none, each of its own kind.

The second six were written when the judging of old folders was done, and nothing was changed for
them since.
"""

SEEN = {
    "sign_in": """Sign in to your account

Access through your institution or sign in with your personal account to continue.

Email address
Password
[Forgot your password?](https://e.org/forgot) [Register](https://e.org/register)

Institutional users: choose your organisation from the list and follow the steps that come.
Copyright 2021. Terms and conditions. Privacy policy. Settings. Help. Contact us.
""",
    "shop": "# Effects of heat on leaf growth in barley\n\nAbstract\n\nWe grew barley at four "
    "temperatures and measured leaves for six weeks. Growth fell with heat, and more so in dry "
    "soil. Leaves were thinner above thirty degrees, and yields lowest where both came together."
    "\n\nGet access\n\nBuy this article as PDF for USD 39.95. Rent it for 48 hours.\n\n"
    + "\n".join(
        f"{n}. Smith A, Jones B. A study of thing {n}. J Things {1980 + n % 40};{n}:{n}-{n + 9}."
        for n in range(1, 60)
    ),
    "navigation": "Home | Journals | Books | About | Contact\n\n"
    + "\n".join(f"- [Volume {n}, issue {n % 12}](https://e.org/{n})" for n in range(80)),
    "privacy": """We value your privacy

We and our 214 partners store and access information on a device, such as unique identifiers, to
process personal data. You may accept or manage your choices at any time. These choices will be
signalled to our partners and will not affect browsing data.

[Accept all](#) [Reject all](#) [Manage preferences](#)
"""
    * 2,
    "data": '{"status": "error", "message": "no such article", "trace": "%s"}' % ("0a " * 120),
    "html": "<!DOCTYPE html><html><head><title>Welcome</title></head><body><p>Choose your "
    "country to go on.</p>" + "<a href='/x'>x</a> " * 80 + "</body></html>",
}
KEPT_FOR_TESTING = {
    "outage": "Service temporarily out of order\n\nOur site is undergoing planned work and will "
    "be back on Monday at 6 am. Thank you for your patience. If you are an author with a deadline "
    "write to the editorial office, which will extend it.\n\nIncident 7f3a-22, node 4.\n",
    "proxy": "University Library\n\nOff-campus access to licensed resources\n\nYou are leaving the "
    "library's pages. Staff and students give the number on their card and the PIN to be passed "
    "on to the resource. Visitors may use the terminals in the reading rooms.\n\nCard number\n\n"
    "PIN\n\n" + "Opening hours: Monday to Friday 8 to 22, Saturday 9 to 18. " * 3,
    "citation": "TY  - JOUR\nTI  - Heat and barley\nAU  - Smith, A\nJO  - J Things\nPY  - 2011\n"
    "VL  - 4\nSP  - 12\nEP  - 21\nDO  - 10.1000/citation\nUR  - https://e.org/citation\n"
    "N1  - downloaded for personal use only, please cite as above in any publication\nER  - \n",
    "supplement": "Supplementary material\n\n- Additional file 1: Table S1. Primers (xlsx, 12 kb)\n"
    "- Additional file 2: Figure S1. Blots, uncropped (pdf, 2 MB)\n- Additional file 3: Movie S1. "
    "Growth of one leaf over six weeks (mp4, 44 MB)\n\nThese files were supplied by the authors "
    "and are not edited. Questions go to the corresponding author.\n",
    "foreign_stub": "# Zeitschrift für Dinge\n\nDieser Beitrag ist nur für Abonnenten im Volltext "
    "lesbar. Bitte melden Sie sich mit Ihrer Kundennummer an oder kaufen Sie den Beitrag einzeln. "
    "Bei Fragen hilft Ihnen unser Kundendienst werktags von 9 bis 17 Uhr gerne weiter.\n",
    "binary": "%PDF-1.4\n%\u00e2\u00e3\n1 0 obj << /Type /Catalog >> endobj\n" + "x\x00y" * 300,
}
ALL = {**SEEN, **KEPT_FOR_TESTING}
