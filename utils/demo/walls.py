"""The pages that sites deliver instead of a paper: bot checks and another paper."""

from .wire import HTML, Reply, text


def page(title: str, body: str, status: int = 200, head: str = "") -> Reply:
    """Return an HTML page."""
    return text(
        f'<!DOCTYPE html><html lang="en-US"><head><meta charset="utf-8"><title>{title}</title>'
        f"{head}</head><body>{body}</body></html>",
        HTML,
        status,
    )


def captcha(status: int = 200) -> Reply:
    """Return a bot check in the style of Cloudflare."""
    body = (
        '<div class="main-wrapper" role="main"><div class="main-content"><h1>harbour.test</h1>'
        "<h2>Verify you are human by completing the action below.</h2>"
        '<div id="cf-chl-widget" class="cf-turnstile" data-sitekey="0x4AAAAAAA"></div>'
        "<p>harbour.test needs to review the security of your connection before proceeding.</p>"
        '<form id="challenge-form" action="/?__cf_chl_f_tk=x"></form><p>Ray ID: 8f00ba5eba11</p>'
        "<noscript>Enable JavaScript and cookies to continue</noscript></div></div>"
        '<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1"></script>'
    )
    reply = page("Just a moment...", body, status, '<meta name="robots" content="noindex">')
    reply.headers |= {"Server": "cloudflare", "CF-RAY": "8f00ba5eba11", "cf-mitigated": "challenge"}
    return reply


def wrong_paper() -> Reply:
    """Return the whole text of a paper that was not requested."""
    from .pages import build_article_page
    from .papers import SIGNALS
    from .records import Record

    other = Record(
        "another", "Prosodic phrasing in village recordings", SIGNALS, topic="language",
        doi="10.9103/signals.2024.9999", pmid="40990099", authors=(("Nobody", "Asked"),),
    )  # fmt: skip
    return text(build_article_page(other, "http://127.0.0.1"), HTML)
