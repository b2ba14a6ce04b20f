"""Doorkeepers that the demo does not show: the pages that come instead of a paper."""

from utils.demo.walls import captcha, page, wrong_paper
from utils.demo.wire import Reply

__all__ = ["bot_check", "captcha", "cookie_wall", "error_page", "login", "paywall", "wrong_paper"]


def bot_check() -> Reply:
    """A proof of work before the file, in the style of PMC's website."""
    return page(
        "Preparing to download ...",
        '<div id="main"><h1>Preparing to download ...</h1></div><script>'
        'const POW_CHALLENGE = "ab12";'
        'const POW_DIFFICULTY = "4"; document.cookie = "cloudpmc-viewer-pow=" + solve();</script>',
    )


def cookie_wall() -> Reply:
    """Nothing without cookies."""
    return page(
        "Cookie Absent",
        "<main><h1>Cookies are disabled for this browser</h1><p>This site requires cookies for "
        "authentication and use of other site features; therefore, cookies must be enabled to "
        "browse the site.</p><p>Please enable cookies and reload the page.</p></main>",
    )


def login() -> Reply:
    """A form where the paper should be."""
    return page(
        "Sign in | Summit Online",
        '<header><a href="/">Summit Online</a></header><main><h1>Sign in to continue</h1><form '
        'action="/login" method="post"><label>Email<input type="email" name="user"></label><label>'
        'Password<input type="password" name="password"></label><button>Sign in</button></form>'
        '<p><a href="/shibboleth">Access through your institution</a></p><p><a href="/forgot">'
        "Forgotten your password?</a> No account yet? <a href='/register'>Register</a></p></main>",
    )


def paywall() -> Reply:
    """An offer to sell, without even an abstract."""
    return page(
        "Get access | Meadow Press",
        "<main><h1>Access options</h1><p>You do not currently have access to this article.</p>"
        '<ul class="purchase"><li>Rent this article for 48 hours: $12.00</li><li>Buy this article '
        "PDF: $39.95</li><li>Subscribe to the journal</li></ul><p>Log in via your institution"
        "</p></main>",
    )


def error_page() -> Reply:
    """An error that says 200."""
    return page(
        "Error Page",
        "<main><h1>Oops! Something went wrong</h1><p>The page you requested could not be found or "
        "an unexpected error has occurred. Please try again later or contact support, quoting "
        "reference number 18.5d2e.</p></main>",
    )
