"""Taking turns: one clock per site, shared by all threads and processes of this user.

NCBI blocks whole addresses when three requests a second are exceeded, whoever of us sent them. A
server, a shell and a notebook on one machine must therefore share one pace, also when they keep
their papers in different folders. The bookings live in one small SQLite file: a request books the
next free moment in a short transaction, sleeps outside it, and checks in a second one that it
really leaves no sooner than its site's interval after the one before it (a process that woke late
would otherwise be followed too closely). Published limits: each source's `Rate`.
"""

from __future__ import annotations

import hashlib
import logging
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..errors import Unreachable
from .hold import held_for
from .retry import LONGEST

if TYPE_CHECKING:
    from ..settings import Settings

log = logging.getLogger(__name__)

_JITTER = 0.1  # of the interval, only ever added
_DAY = 86400.0
_GRAVEST = 3600.0  # a penalty doubles while a site keeps refusing, up to an hour
_FILE = "pace.sqlite"
_SCHEMA = """CREATE TABLE IF NOT EXISTS turns (
    bucket TEXT PRIMARY KEY, free REAL, left REAL, held REAL, penalty REAL, seen REAL)"""


@dataclass(frozen=True, slots=True)
class Rate:
    """How fast one site (or several that count together: one *bucket*) may be asked.

    Parameters
    ----------
    bucket : str
        Requests with the same bucket share one pace.
    services : tuple of str
        Names in the settings: ``"eutils"`` means ``settings.eutils_base_url``.
    every : float
        Seconds between two requests, from the site's published limit.
    every_with_key : float, optional
        The same when the key is set.
    key : str, optional
        The settings field of the key that changes the pace.
    alone : bool, optional
        Only one request under way at a time, over all processes.
    penalty : float, optional
        Seconds to stay away after a 403 or 429 that names no time; doubles while it goes on.
    hosts : tuple of str, optional
        Further hosts, with everything below them, that count to this bucket.
    delay : str, optional
        The settings field (milliseconds) with which a user chooses another pace.
    least : float, optional
        Seconds below which that choice is not followed; ``every`` when not given.
    asked : callable, optional
        Reads the headers of every answer, also a good one: the seconds for which the site wants
        nobody to ask again, 0 mostly. For sites that say so before they refuse.
    """

    bucket: str
    services: tuple[str, ...]
    every: float
    every_with_key: float | None = None
    key: str = ""
    alone: bool = False
    penalty: float = 0.0
    hosts: tuple[str, ...] = ()
    delay: str = ""
    least: float | None = None
    asked: Callable[[Mapping[str, str]], float] | None = None


@dataclass(slots=True)
class _Row:
    """The state of one bucket, in seconds of `time.time`."""

    free: float = 0.0  # the next moment nobody has booked
    left: float = 0.0  # when the last request left
    held: float = 0.0  # nobody asks before
    penalty: float = 0.0  # the last one given
    seen: float = 0.0  # the latest clock reading

    def shift_to(self, now: float) -> None:
        """Keep the distances when the clock was set back; else an hour back is an hour's wait."""
        if (back := self.seen - now) > 0:
            self.free, self.left, self.held = self.free - back, self.left - back, self.held - back
        self.seen = now


class Pace:
    """Books turns at sites and waits for them.

    Parameters
    ----------
    folder : Path
        Where the bookings live; made (0700) on first use. Where that is impossible, the shelf's own
        ``.papershelf/pace`` is used, and then a folder of this process.
    settings : Settings
        Base URLs, keys and NCBI's delay.
    rates : sequence of Rate
        The pace of each site; unknown hosts get *default*.
    longest : float, optional
        Seconds we are ready to queue; beyond that the site counts as unreachable.
    default : float, optional
        Seconds between two requests to a host nobody described.
    """

    def __init__(
        self,
        folder: Path,
        settings: Settings,
        rates: Sequence[Rate],
        longest: float = LONGEST,
        default: float = 1.0,
    ) -> None:
        self._folder = folder
        self._settings = settings
        self._rates = tuple(rates)
        self.longest = longest
        self._default = default

    def bucket(self, url: str) -> str:
        """The bucket whose base URL is the longest beginning of *url*, else its host and port."""
        return self._rate(url).bucket

    def spacing(self) -> list[tuple[Rate, float]]:
        """Seconds between two requests to each site, with the keys and settings there are."""
        return [(rate, self._every(rate)) for rate in self._rates]

    @contextmanager
    def turn(self, url: str) -> Iterator[None]:
        """Wait for a turn at the site of *url*; inside, ask.

        Raises
        ------
        Unreachable
            The wait would be longer than ``longest``, or the site asked all of us to stay away.
        """
        rate = self._rate(url)
        name, every = self._name(rate), self._every(rate)
        _sleep(self._book(name, every))
        with self._alone(name, every) if rate.alone else _nobody_waits():
            while (pause := self._leave(name, every)) > 0:
                _sleep(pause)
            yield

    def hold(self, url: str, seconds: float) -> None:
        """Nobody asks the site of *url* anything for *seconds* (a day at most): it told us so."""
        with self._row(self._name(self._rate(url))) as (row, now):
            row.held = max(row.held, now + min(seconds, _DAY))
            row.free = max(row.free, row.held)

    def heed(self, url: str, headers: Mapping[str, str]) -> float:
        """Hold the site of *url* as long as the headers of its answer ask for; the seconds."""
        asked = self._rate(url).asked
        seconds = asked(headers) if asked else 0.0
        if seconds > 0:
            self.hold(url, seconds)
        return seconds

    def penalise(self, url: str) -> float:
        """Stay away from a site that refused without naming a time; the seconds, 0 for most sites.

        Refused again soon after the last penalty was over, the next one is twice as long.
        """
        rate = self._rate(url)
        if not rate.penalty:
            return 0.0
        with self._row(self._name(rate)) as (row, now):
            if row.held > now:  # a request that was under way when the first refusal came
                return row.held - now
            again = now - row.held < max(rate.penalty, row.penalty)
            row.penalty = min(_GRAVEST, row.penalty * 2) if again else rate.penalty
            row.held = now + row.penalty
            row.free = max(row.free, row.held)
            return row.penalty

    def _book(self, name: str, every: float) -> float:
        """Take the next free moment; the seconds until then."""
        with self._row(name) as (row, now):
            start = max(now, row.free, row.held)
            if start - now > self.longest:
                raise self._too_long(name, start - now)
            row.free = start + every * random.uniform(1.0, 1.0 + _JITTER)
            return start - now

    def _leave(self, name: str, every: float) -> float:
        """Leave now, or the seconds still to wait."""
        with self._row(name) as (row, now):
            if row.held - now > self.longest:
                raise self._too_long(name, row.held - now)
            pause = max(row.held, row.left + every) - now
            if pause <= 0:
                row.left = now
                row.free = max(row.free, now + every)
            return pause

    def _too_long(self, name: str, seconds: float) -> Unreachable:
        who = name.partition("#")[0]
        msg = f"The next turn at {who} is {seconds:.0f} s away."
        return Unreachable(msg, f"Try again in {seconds:.0f} s.", retry_after=seconds)

    @contextmanager
    def _alone(self, name: str, every: float) -> Iterator[None]:
        """Be the only one of all processes with a request under way.

        The lock is an open transaction on a file of its own: it ends with its process, on every
        system Python runs on.
        """
        lock = f"alone-{hashlib.sha256(name.encode()).hexdigest()[:16]}.sqlite"
        with ExitStack() as held:
            try:
                held.enter_context(_transaction(self._place / lock, self.longest))
            except sqlite3.Error as error:
                _set_aside_if_damaged(self._place / lock, error)
                raise self._too_long(name, self.longest + every) from None
            yield

    @contextmanager
    def _row(self, name: str) -> Iterator[tuple[_Row, float]]:
        """One bucket's state and the time, in a transaction; written back unless it raised."""
        try:
            with _transaction(self._place / _FILE) as db:
                db.execute(_SCHEMA)
                # Read inside the transaction: the clock then agrees with the order of the bookings.
                now = time.time()
                query = "SELECT free, left, held, penalty, seen FROM turns WHERE bucket = ?"
                row = _Row(*(db.execute(query, (name,)).fetchone() or ()))
                row.shift_to(now)
                yield row, now
                values = (name, row.free, row.left, row.held, row.penalty, row.seen)
                db.execute("INSERT OR REPLACE INTO turns VALUES (?, ?, ?, ?, ?, ?)", values)
            held_for(row.held - now)
        except sqlite3.Error as error:
            self._recover(error)
            msg = f"The pace shared by all processes could not be kept ({error})."
            raise Unreachable(msg) from error

    def _recover(self, error: sqlite3.Error) -> None:
        """Let the next turn find a place again."""
        if place := self.__dict__.pop("_place", None):
            _set_aside_if_damaged(place / _FILE, error)

    @cached_property
    def _place(self) -> Path:
        """The first folder that can be written, made on first use."""
        for folder in (self._folder, self._settings.papers_dir / ".papershelf" / "pace"):
            for _ in range(2):  # the second time without a damaged file
                try:
                    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                    with _transaction(folder / _FILE) as db:
                        db.execute(_SCHEMA)
                except (OSError, sqlite3.Error) as error:
                    log.warning("The pace cannot be kept in %s (%s).", folder, error)
                    _set_aside_if_damaged(folder / _FILE, error)
                else:
                    return folder
        log.warning("Processes cannot share their pace; this one keeps its own.")
        return Path(tempfile.mkdtemp(prefix="papershelf-pace-"))

    def _name(self, rate: Rate) -> str:
        """The row of a bucket: sites count per key, so the key (hashed) tells the rows apart."""
        secret = self._settings.key(rate.key) if rate.key else ""
        mark = "#" + hashlib.sha256(secret.encode()).hexdigest()[:8] if secret else ""
        return rate.bucket + mark

    def _every(self, rate: Rate) -> float:
        keyed = bool(rate.key and self._settings.key(rate.key))
        every = rate.every_with_key if keyed and rate.every_with_key is not None else rate.every
        chosen = getattr(self._settings, rate.delay) if rate.delay else None
        if chosen is None:
            return every
        least = every if keyed or rate.least is None else rate.least
        return max(least, float(chosen) / 1000)

    def _rate(self, url: str) -> Rate:
        place = _spot(url)
        host = place.partition("/")[0]
        fitting = [(base, rate) for base, rate in self._bases if _within(place, base)]
        if fitting:
            return max(fitting, key=lambda pair: len(pair[0]))[1]
        for rate in self._rates:
            if any(f".{host}".endswith(f".{known}") for known in rate.hosts):
                return rate
        return replace(_UNKNOWN, bucket=host, every=self._default)

    @cached_property
    def _bases(self) -> list[tuple[str, Rate]]:
        return [
            (_spot(getattr(self._settings, f"{service}_base_url")), rate)
            for rate in self._rates
            for service in rate.services
        ]


_UNKNOWN = Rate(bucket="", services=(), every=1.0)


def _spot(url: str) -> str:
    """Host, port unless it is the usual one, and path: http and https are one site.

    >>> _spot("HTTPS://A.org:443/B/?q"), _spot("http://a.org:8080")
    ('a.org/B', 'a.org:8080')
    """
    parts = urlsplit(url)
    usual = {"http": ":80", "https": ":443"}.get(parts.scheme, "")
    netloc = parts.netloc.rpartition("@")[2].lower().removesuffix(usual)
    return netloc + parts.path.rstrip("/")


def _within(place: str, base: str) -> bool:
    return place == base or place.startswith(base + "/")


def _sleep(seconds: float) -> None:
    if seconds > 0:
        time.sleep(seconds)


@contextmanager
def _nobody_waits() -> Iterator[None]:
    yield


@contextmanager
def _transaction(path: Path, patience: float = 30.0) -> Iterator[sqlite3.Connection]:
    """A writing transaction; committed at the end, undone when something was raised."""
    # One connection a turn: cheap beside the waiting, and safe with threads and forks.
    with closing(sqlite3.connect(path, timeout=patience, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous = OFF")  # a power cut may forget the bookings
        db.execute("BEGIN IMMEDIATE")
        yield db
        db.execute("COMMIT")


def _set_aside_if_damaged(path: Path, error: Exception) -> None:
    """Make room for a new file: nothing in the bookings must survive."""
    passing = isinstance(error, sqlite3.OperationalError)  # busy, full, read-only
    if isinstance(error, sqlite3.DatabaseError) and not passing:
        with suppress(OSError):
            path.replace(path.with_suffix(".damaged"))
