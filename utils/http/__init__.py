"""Polite and safe HTTP: the only door to the network.

Every request keeps to its site's rate limit (`RateLimiter`, shared by all processes of this user),
names us in ``User-Agent``, pauses when the site asks for it, follows no link into a private
network, and has a limit of bytes and of seconds. Sources use `Rate` (a site's limit), `Web` (ask)
and `Answer`; callers that wait use `Cooldown` (how long a site makes them wait), `Patience` (how
long they are ready to wait) and `Cancellation` (end the work).

Importing this room is cheap: requests, urllib3, backoff and diskcache load with the first request.
"""

from .messages import MAX_BYTES, Answer, not_older_than, redact
from .rate_limiter import Cooldown, Rate, RateLimiter
from .session import Web
from .work import Cancellation, Patience

__all__ = [
    "MAX_BYTES",
    "Answer",
    "Cancellation",
    "Cooldown",
    "Patience",
    "Rate",
    "RateLimiter",
    "Web",
    "not_older_than",
    "redact",
]
