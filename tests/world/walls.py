"""Doorkeepers: the pages that come instead of a paper."""

from tests.world.wire import HTML, Reply, text


def _html(title: str, body: str, status: int = 200, head: str = "") -> Reply:
    return text(
        f'<!DOCTYPE html><html lang="en-US"><head><meta charset="utf-8"><title>{title}</title>'
        f"{head}</head><body>{body}</body></html>",
        HTML,
        status,
    )


def captcha(status: int = 200) -> Reply:
    """A challenge in the style of Cloudflare."""
    body = (
        '<div class="main-wrapper" role="main"><div class="main-content"><h1>harbour.test</h1>'
        "<h2>Verify you are human by completing the action below.</h2>"
        '<div id="cf-chl-widget" class="cf-turnstile" data-sitekey="0x4AAAAAAA"></div>'
        "<p>harbour.test needs to review the security of your connection before proceeding.</p>"
        '<form id="challenge-form" action="/?__cf_chl_f_tk=x"></form><p>Ray ID: 8f00ba5eba11</p>'
        "<noscript>Enable JavaScript and cookies to continue</noscript></div></div>"
        '<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1"></script>'
    )
    reply = _html("Just a moment...", body, status, '<meta name="robots" content="noindex">')
    reply.headers |= {"Server": "cloudflare", "CF-RAY": "8f00ba5eba11", "cf-mitigated": "challenge"}
    return reply


def bot_check() -> Reply:
    """A proof of work before the file, in the style of PMC's website."""
    return _html(
        "Preparing to download ...",
        '<div id="main"><h1>Preparing to download ...</h1></div><script>'
        'const POW_CHALLENGE = "ab12";'
        'const POW_DIFFICULTY = "4"; document.cookie = "cloudpmc-viewer-pow=" + solve();</script>',
    )


def cookie_wall() -> Reply:
    """Nothing without cookies."""
    return _html(
        "Cookie Absent",
        "<main><h1>Cookies are disabled for this browser</h1><p>This site requires cookies for "
        "authentication and use of other site features; therefore, cookies must be enabled to "
        "browse the site.</p><p>Please enable cookies and reload the page.</p></main>",
    )


def login() -> Reply:
    """A form where the paper should be."""
    return _html(
        "Sign in | Summit Online",
        '<header><a href="/">Summit Online</a></header><main><h1>Sign in to continue</h1><form '
        'action="/login" method="post"><label>Email<input type="email" name="user"></label><label>'
        'Password<input type="password" name="password"></label><button>Sign in</button></form>'
        '<p><a href="/shibboleth">Access through your institution</a></p><p><a href="/forgot">'
        "Forgotten your password?</a> No account yet? <a href='/register'>Register</a></p></main>",
    )


def paywall() -> Reply:
    """An offer to sell, without even an abstract."""
    return _html(
        "Get access | Meadow Press",
        "<main><h1>Access options</h1><p>You do not currently have access to this article.</p>"
        '<ul class="purchase"><li>Rent this article for 48 hours: $12.00</li><li>Buy this article '
        "PDF: $39.95</li><li>Subscribe to the journal</li></ul><p>Log in via your institution"
        "</p></main>",
    )


def error_page() -> Reply:
    """An error that says 200."""
    return _html(
        "Error Page",
        "<main><h1>Oops! Something went wrong</h1><p>The page you requested could not be found or "
        "an unexpected error has occurred. Please try again later or contact support, quoting "
        "reference number 18.5d2e.</p></main>",
    )


def wrong_paper() -> Reply:
    """A whole paper, but nobody asked for it."""
    from tests.world.imprint import SIGNALS
    from tests.world.pages import article_page
    from tests.world.records import Record

    other = Record(
        "another",
        "Prosodic phrasing in village recordings",
        SIGNALS,
        topic="language",
        doi="10.9103/signals.2024.9999",
        pmid="40990099",
        authors=(("Nobody", "Asked"),),
    )
    return text(article_page(other, "http://127.0.0.1"), HTML)
