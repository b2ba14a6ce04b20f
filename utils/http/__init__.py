"""Send HTTP requests for the whole program: rate limits, retries, redirects and a store of answers.

An answer 429 or 503 is handled in `.session` (`Web`), which starts a cooldown in `.rate_limiter`
for all processes; `.retry` decides whether to ask again.

Every request keeps to its site's rate limit (`RateLimiter`, shared by all processes of this user),
names us in ``User-Agent``, pauses when the site asks for it, follows no link into a private
network, and has a limit of bytes and of seconds. Sources use `Rate` (a site's limit), `Web` (ask)
and `Answer`; callers that wait use `Cooldown` (how long a site makes them wait), `Patience` (how
long they are ready to wait) and `Cancellation` (end the work).

Importing this package is cheap: requests, urllib3, backoff and diskcache load with the first
request.
"""

from .messages import MAX_BODY_BYTES, Answer, redact_url, require_answers_since
from .rate_limiter import Cooldown, Rate, RateLimiter
from .session import Web
from .work import Cancellation, Patience

__all__ = [
    "MAX_BODY_BYTES",
    "Answer",
    "Cancellation",
    "Cooldown",
    "Patience",
    "Rate",
    "RateLimiter",
    "Web",
    "redact_url",
    "require_answers_since",
]
