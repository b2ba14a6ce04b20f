"""Polite and safe HTTP: the only door to the network.

Everything that leaves this house takes its turn at the site it goes to (`Pace`, shared by every
process of this user), says who it is, waits when told to, never follows a link into a private
network, and never reads more, or longer, than it said it would. Sources see three names: `Rate`
(how fast a site may be asked), `Web` (ask it) and `Answer` (what it said). Whoever waits for work
sees `Hold` (how long a site keeps it), and whoever may have to end it `Cancellation`.

Importing this room is cheap: requests, urllib3, backoff and diskcache wait for the first request.
"""

from .answer import MAX_BYTES, Answer, redact
from .cancellation import Cancellation
from .hold import Hold
from .pace import Pace, Rate
from .session import Web

__all__ = ["MAX_BYTES", "Answer", "Cancellation", "Hold", "Pace", "Rate", "Web", "redact"]
