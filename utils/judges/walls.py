"""Find access barriers in a page's structure: captcha, bot check, login, paywall, cookies, errors.

A wall is recognised by elements, scripts and URLs that are necessary for it (the captcha widget,
the password field), not by phrases: an article *about* captchas has none of these. A wall alone
proves nothing, because ordinary articles contain login forms, too; `.check` weighs it against the
text. The patterns come from recorded pages and from the embedding instructions of each provider.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..outline.words import count_words

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

# A page that shows a challenge shows nothing else; beyond this it is an ordinary page.
_CHALLENGE_WORDS = 250

_TITLES = {
    "bot_check": re.compile(
        r"just a moment.*|attention required!?|checking your browser.*|preparing to download.*"
        r"|pardon our interruption.*|access to this page has been denied.*|client challenge"
        r"|making sure you.?re not a bot!?|ddos-guard|one moment,? please.*|security check.*"
        r"|verifying (your|you).*|bot (check|verification).*|please wait.*|radware.*",
        re.I,
    ),
    "captcha": re.compile(
        r"(re)?captcha.{0,30}|are you (a )?(human|robot)\??|human verification", re.I
    ),
    "refused": re.compile(
        r"(error\s*)?40[13](\W+(error|forbidden|unauthori[sz]ed|access).*)?|forbidden"
        r"|access denied|unauthori[sz]ed",
        re.I,
    ),
    "error_page": re.compile(
        r"(error\s*)?[45]\d\d(\W+(error|not found|forbidden|bad|service|gateway|unauthori).*)?"
        r"|not found"
        r"|(error:?\s*)?(page|article|document|doi) not found.*"
        r"|error( page)?|bad (request|gateway)|gateway time-?out"
        r"|(temporarily )?(service )?unavailable|(internal )?server error"
        r"|site maintenance"
        r"|(oops\W+)?(an error (has )?occurred|something went wrong).*"
        r"|(request rejected|too many requests).*",
        re.I,
    ),
    "login": re.compile(r"(sign|log) ?in.{0,40}|login.{0,40}|shibboleth.*|authentication.*", re.I),
    "paywall": re.compile(
        r"(get|purchase|buy|institutional) access.*|access options.*|subscription required.*"
        r"|(buy|purchase|rent) (this )?article.*|restricted access.*",
        re.I,
    ),
    "cookie_wall": re.compile(
        r"cookies? (absent|required|disabled|are disabled|error|not supported).*|enable cookies.*",
        re.I,
    ),
}
_SCRIPTS = {
    "captcha": re.compile(
        r"google\.com/recaptcha|recaptcha\.net/|gstatic\.com/recaptcha|hcaptcha\.com"
        r"|captcha-delivery\.com|arkoselabs\.com|geetest|friendlycaptcha|awswaf\.com/.{0,80}captcha",
        re.I,
    ),
    "bot_check": re.compile(
        r"challenges\.cloudflare\.com|/cdn-cgi/(challenge-platform|l/chk|images/trace)|_Incapsula_"
        r"|perimeterx|px-cloud\.net|/assets/pow-|ddos-guard|/\.within\.website/|awswaf\.com|/_sec/cp_",
        re.I,
    ),
}
_CODE = re.compile(
    r"_cf_chl_opt|POW_CHALLENGE|cloudpmc-viewer-pow|_pxAppId|jschl_|anubis_challenge"
)
# Whole class names and ids.
_ELEMENTS = {
    "captcha": re.compile(r"g-recaptcha|h-captcha|px-captcha|captcha"),
    "bot_check": re.compile(
        r"cf-turnstile|cf-browser-verification|challenge-(form|running|error-text)|cf-wrapper"
        r"|cf-challenge-running|anubis_challenge|sec-if-cpt-container"
    ),
}
_LOGIN_FORM = re.compile(r"log-?in|sign-?in|shibboleth", re.I)
# Parts of class and id names publishers give to the block that sells the article.
_PAYWALL = re.compile(
    r"\bpurchase\b|pay-?wall|access-?options|access-?denied|(?<!seamless)access-?denial|denial-?block|article-?purchase|buy-?box"
    r"|buy-?article|purchase-?(options|access|article)|get-?access|pay-?per-?view|ppv(?!-message)"
    r"|no-?access(?!-?reveal)|rent-?or-?buy|subscription-?(options|required)|preview-?of-?subscription|restricted-?access"
    r"|add-?to-?cart|access-?widget|institutional-?access|article-?access-?form",
    re.I,
)
_POPUP = re.compile(r"\b(?:reveal-)?modal\b|reveal\b", re.I)
_LABEL_CHARS = 150  # a longer offer says in words what it sells
_OFFER = re.compile(
    r"purchas|\bbuy|\brent\b|subscri|\b(?:log|sign)[ -]?in\b|institution|\baccess|\bmember|\bprice"
    r"|\bpay\b|[$\u20ac\u00a3\u00a5]|\b(?:USD|EUR|GBP)\b",
    re.I,
)
_COOKIES = re.compile(
    # Bounded, or one word of a megabyte would take the square of that.
    r"(enable|accept|allow|require|support|absent|disabled)\w{0,9}\W{1,9}(\w{1,20}\W{1,9}){0,6}cookies?"
    r"|cookies?\W{1,9}(\w{1,20}\W{1,9}){0,6}(enabl|requir|disabl|absent|accept|support|block)",
    re.I,
)
_LOGIN_URL = re.compile(
    r"(^|[/.])(login|signin|sign-in|sso|idp|wayf|shibboleth|auth)([/.?]|$)", re.I
)
_COOKIE_URL = re.compile(r"cookie_?(absent|set=0|error|required|notsupported)|/cookies?/?$", re.I)


def find_page_walls(soup: BeautifulSoup, url: str, closed: bool) -> tuple[str, ...]:
    """Return the access barriers of an unpruned page with its scripts, the most certain first.

    Parameters
    ----------
    closed : bool
        Whether the page's metadata says ``isAccessibleForFree: false``.
    """
    found = dict.fromkeys(_iterate_walls_of_page(soup, url))
    if closed:
        found["paywall"] = None
    return tuple(found)


def find_wall_in_title(title: str) -> str:
    """Return the barrier that a page's title states (``Just a moment...``); else empty.

    The site's own name, before or after a separator, does not count.

    >>> find_wall_in_title("Attention Required! | Cloudflare"), find_wall_in_title("403 Forbidden")
    ('bot_check', 'refused')
    >>> find_wall_in_title("Are you human? Captchas and their discontents")
    ''
    """
    title = " ".join(title.split())  # or a run of blanks would be tried from each of them
    pieces = [title, *re.split(r" [|\u2022\u2013\u2014\u00b7-] ", title)]
    for name, pattern in _TITLES.items():
        if any(pattern.fullmatch(piece.strip()) for piece in pieces if piece):
            return name
    return ""


def _iterate_walls_of_page(soup: BeautifulSoup, url: str) -> Iterator[str]:
    title = soup.find("title")
    if title is not None and (wall := find_wall_in_title(title.get_text(" ", strip=True))):
        yield wall
    if _is_as_short_as_challenge(soup):
        yield from _iterate_walls_in_text(soup)
    elements = soup.find_all(True)
    code = " ".join(
        script.get_text()
        for script in elements
        if script.name == "script" and not script.get("src")
    )
    if _CODE.search(code):
        yield "bot_check"
    for tag in elements:
        if tag.name in ("script", "iframe", "form", "img"):
            address = str(tag.get("src") or tag.get("action") or "")
            for name, pattern in _SCRIPTS.items():
                if pattern.search(address):
                    yield name
    for tag in elements:
        if tag.attrs:
            yield from _iterate_walls_of_element(tag)
    yield from _iterate_walls_in_url(url)


def _iterate_walls_of_element(tag: Tag) -> Iterator[str]:
    """Yield the barriers that an element's class names, URL or field type show."""
    classes = tag.attrs.get("class") or ""
    classes = " ".join(classes) if isinstance(classes, list) else classes
    names = f"{classes} {tag.attrs.get('id', '')}"
    yield from _find_walls_by_class_names(names)
    if tag.name == "input":
        if str(tag.get("type") or "").lower() == "password":
            yield "login"
        elif "captcha" in str(tag.get("name") or "").lower():
            yield "captcha"
    elif tag.name in ("form", "img", "iframe"):
        address = str(tag.get("action") or tag.get("src") or "")
        if "captcha" in address.lower():
            yield "captcha"
        elif tag.name == "form" and _LOGIN_FORM.search(address) and tag.find("input") is not None:
            yield "login"
    names = f"{names} {tag.attrs.get('data-test', '')} {tag.attrs.get('data-testid', '')}"
    if _has_paywall_class_name(names) and _is_visible_offer(tag, names):
        yield "paywall"


@lru_cache(maxsize=4000)  # the same few names all over a page
def _find_walls_by_class_names(names: str) -> tuple[str, ...]:
    words = names.split()
    return tuple(wall for wall, pattern in _ELEMENTS.items() if any(map(pattern.fullmatch, words)))


@lru_cache(maxsize=4000)
def _has_paywall_class_name(names: str) -> bool:
    return _PAYWALL.search(names) is not None


def _is_visible_offer(tag: Tag, names: str) -> bool:
    """Return whether an element with the class name of a purchase offer is visible to readers.

    Open pages contain empty or hidden boxes with such names (``noAccessReveal``,
    ``accessDenialslot``), or use the boxes for other notes.
    """
    text = " ".join(tag.get_text(" ").split())
    is_kept_closed = _POPUP.search(names) is not None
    if tag.name in ("html", "body") or not text or is_kept_closed:
        return False
    return len(text) <= _LABEL_CHARS or _OFFER.search(text) is not None


def _iterate_walls_in_text(soup: BeautifulSoup) -> Iterator[str]:
    """Yield the barriers that a heading or the text states; for pages with few words."""
    heading = soup.find(["h1", "h2"])
    if heading is not None and (wall := find_wall_in_title(heading.get_text(" ", strip=True))):
        yield wall
    if _COOKIES.search(soup.get_text(" ")):
        yield "cookie_wall"


def _iterate_walls_in_url(url: str) -> Iterator[str]:
    """Yield the barriers that the URL shows: publishers redirect robots to such pages."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    if _COOKIE_URL.search(f"{parts.path}?{parts.query}"):
        yield "cookie_wall"
    if _LOGIN_URL.search((parts.hostname or "") + parts.path):
        yield "login"


def _is_as_short_as_challenge(soup: BeautifulSoup) -> bool:
    """Return whether the page has as few words as a bot check."""
    hidden = {"script", "style", "title", "template", "noscript"}
    words = 0
    for text in soup.strings:
        around = getattr(text, "parent", None)
        if around is not None and around.name not in hidden:
            words += count_words(str(text))
        if words >= _CHALLENGE_WORDS:
            return False
    return True
