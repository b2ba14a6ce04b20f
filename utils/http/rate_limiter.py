"""Rate limits: one clock per site, shared by all threads and processes of this user.

NCBI blocks whole addresses when three requests a second are exceeded. A server, a shell and a
notebook on one machine must therefore share one limiter, also when they keep their papers in
different folders. Its state is one small SQLite file. A request

1. books the next free moment in a short transaction, and sleeps outside it,
2. waits for one of the site's slots (`slots`),
3. checks in a second transaction that it leaves no sooner than its site's interval after the one
   before it (a process that woke late would otherwise be followed too closely) and that no cooldown
   began meanwhile.

The throttle of a site (`throttle`) is written along with a booking. Published limits: each source's
`Rate`.

A caller that reports a wait must not name a site that its work does not use. So `RateLimiter`
notes, with every request, how long the site of that request is in cooldown. The note travels in the
work's context, past verbs, sources and the ladder.
"""

from __future__ import annotations

import hashlib
import logging
import random
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from ..errors import StoreFailed, Unreachable
from ..system.safe_files import create_folder
from ..system.sqlite import file_transaction, is_damaged, set_aside
from .locks import slots_in
from .retry import FACTOR_MAX, FACTOR_MAX_SHARED, LONGEST, SLOW_S, Throttle, long_pause
from .work import may_wait, sleep, turn_limit

if TYPE_CHECKING:
    from ..settings import Settings

log = logging.getLogger(__name__)
_JITTER = 0.1  # of the interval, only ever added
_DAY = 86400.0
_MOST_JITTER_S = 0.05
_GRAVEST = 3600.0  # our own backoff doubles while a site keeps refusing, up to an hour
_GRAVEST_SHARED = 300.0  # where strangers use up the allowance, and any of them may stop
_TIMES_SHARED = 1.6
_BRIEF = (1.0, 30.0)  # the same for sites without one of their own: from, to
_FILE, _SLOTS = "pace.sqlite", "slots.lock"
# Two tables: processes of an older version know the first one only.
_SCHEMAS = (
    """CREATE TABLE IF NOT EXISTS turns (
    bucket TEXT PRIMARY KEY, free REAL, left REAL, held REAL, penalty REAL, seen REAL)""",
    """CREATE TABLE IF NOT EXISTS throttles (
    bucket TEXT PRIMARY KEY, factor REAL, usual REAL, lately REAL, heard INTEGER, grown REAL,
    good REAL, calls INTEGER, good_when_slower REAL)""",
)
_THROTTLE = "factor, usual, lately, heard, grown, good, calls, good_when_slower"
_READ = f"""SELECT free, left, held, penalty, seen, {_THROTTLE}
    FROM (SELECT ? AS asked) LEFT JOIN turns ON turns.bucket = asked
    LEFT JOIN throttles ON throttles.bucket = asked"""  # noqa: S608 - constants
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Rate:
    """The rate limit of one site, or of several that count together: one *bucket*.

    Parameters
    ----------
    bucket : str
        Requests with the same bucket share one rate limit.
    services : tuple of str
        Names in the settings: ``"eutils"`` means ``settings.eutils_base_url``.
    every : float
        Seconds between two requests, from the site's published limit.
    every_with_key : float, optional
        The same when the key is set.
    key : str, optional
        The settings field of the key that changes the rate limit.
    in_flight : int, optional
        So many requests under way at once, over all threads and processes.
    in_flight_with_key : int, optional
        The same when the key is set.
    backoff : float, optional
        Seconds to stay away after a 403, 429 or 503 that names no time; doubles while it goes on.
    hosts : tuple of str, optional
        Further hosts, with everything below them, that count to this bucket.
    delay : str, optional
        The settings field (milliseconds) with which a user chooses another rate limit.
    least : float, optional
        Seconds below which that choice is not followed; ``every`` when not given.
    asked : callable, optional
        From the headers of every answer, also a good one, the seconds of cooldown that the site
        asks for; mostly 0. For sites that say so before they refuse.
    paths : tuple of str, optional
        Only requests to these very paths below the services' addresses count to this bucket: a
        site's search may have a limit of its own.
    shared_without_key : bool, optional
        Whether all users without a key share one allowance: then a refusal says little about us.
    """

    bucket: str
    services: tuple[str, ...]
    every: float
    every_with_key: float | None = None
    key: str = ""
    in_flight: int = 2
    in_flight_with_key: int | None = None
    backoff: float = 0.0
    hosts: tuple[str, ...] = ()
    delay: str = ""
    least: float | None = None
    asked: Callable[[Mapping[str, str]], float] | None = None
    paths: tuple[str, ...] = ()
    shared_without_key: bool = False


@dataclass(slots=True)
class _Row:
    """The state of one bucket, in seconds of `time.time`."""

    free: float = 0.0  # the next moment nobody has booked
    left: float = 0.0  # when the last request left
    held: float = 0.0  # nobody asks before
    backoff: float = 0.0  # the last one given
    seen: float = 0.0  # the latest clock reading
    throttle: Throttle = field(default_factory=Throttle)

    def shift_to(self, now: float) -> None:
        """Keep the distances when the clock was set back; else an hour back is an hour's wait."""
        if (back := self.seen - now) > 0:
            self.free, self.left, self.held = self.free - back, self.left - back, self.held - back
        self.seen = now


class RateLimiter:
    """Books the times of requests to sites, and waits for them.

    Parameters
    ----------
    folder : Path
        Where the bookings live; made (0700) on first use. Where that is impossible, the shelf's own
        ``.papershelf/pace`` is used, and then a folder of this process.
    settings : Settings
        Base URLs, keys and NCBI's delay.
    rates : sequence of Rate
        The rate limit of each site; unknown hosts get *default*.
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
        self._unwritten: dict[str, list[float]] = {}  # by bucket, how long answers took
        self._lock = threading.Lock()
        self._thread = threading.local()  # whether the request of this thread was refused

    def bucket(self, url: str) -> str:
        """The bucket whose base URL is the longest beginning of *url*, else its host and port."""
        return self._rate(url).bucket

    def intervals(self) -> list[tuple[Rate, float]]:
        """Seconds between two requests to each site, by the present keys and settings."""
        return [(rate, self._every(rate)) for rate in self._rates]

    def slowdowns(self) -> dict[str, float]:
        """By bucket, the factor on the published interval, where it is more than 1.

        It grows where a site refused or became slow.
        """
        rows: list[tuple[str, float, float]] = []
        with suppress(sqlite3.Error):  # no file yet, or one of an older version
            if (self._folder / _FILE).exists():
                with file_transaction(self._folder / _FILE, _SCHEMAS) as db:
                    rows = db.execute("SELECT bucket, factor, grown FROM throttles").fetchall()
        found = {name.partition("#")[0]: Throttle(factor, grown=at) for name, factor, at in rows}
        for throttle in found.values():
            throttle.forget(time.time())
        return {name: throttle.factor for name, throttle in found.items() if throttle.factor > 1}

    @contextmanager
    def turn(self, url: str) -> Iterator[None]:
        """Wait until a request to *url* may leave; send it inside.

        Raises
        ------
        Unreachable
            The wait for a turn would be longer than the `Patience` of the current work (without
            one, than ``longest``), or the site asked all of us to stay away for longer.
        """
        rate = self._rate(url)
        name, interval = self._name(rate), self._every(rate)
        sleep(self._book(name, interval))
        with self._slot(name, rate):
            while (pause := self._leave(name, interval)) > 0:
                if not may_wait(pause):
                    raise self._too_long_error(name, pause)
                sleep(pause)
            with self._measure(name):
                yield

    def start_cooldown(self, url: str, seconds: float) -> None:
        """Put the site of *url* in cooldown for *seconds* (a day at most), as it asked."""
        with self._row(self._name(self._rate(url))) as (row, now):
            row.held = max(row.held, now + min(seconds, _DAY))
            row.free = max(row.free, row.held)

    def apply_rate_headers(self, url: str, headers: Mapping[str, str]) -> float:
        """Put the site of *url* in cooldown as the headers of its answer ask; the seconds."""
        asked = self._rate(url).asked
        seconds = asked(headers) if asked else 0.0
        if seconds > 0:
            self.start_cooldown(url, seconds)
        return seconds

    def record_rejection(self, url: str, retry_after: float = 0.0) -> float:
        """Put a site that refused in cooldown for *retry_after*, or our own backoff; the seconds.

        Refused again soon after the last backoff was over, without an answer in between, the next
        one is twice as long. Where the pause is only our own guess, 0 is returned: it tells a
        caller nothing.
        """
        rate = self._rate(url)
        self._forget_answer(self._name(rate))
        with self._row(self._name(rate)) as (row, now):
            self._thread.refused = True
            first = row.held <= now  # the others were under way when the first refusal came
            row.throttle.record_refusal(now, self._factor_max(rate), first=first)
            if retry_after:
                row.held = max(row.held, now + min(retry_after, _DAY))
            elif first:
                least, most, times = self._backoff(rate)
                again = row.backoff and now - row.held < max(least, row.backoff)
                row.backoff = min(most, row.backoff * times) if again else least
                row.held = now + row.backoff
            row.free = max(row.free, row.held)
            return retry_after or (row.held - now if rate.backoff else 0.0)

    def blocks_clients(self, url: str) -> bool:
        """Return whether a 403 or 503 of this site is about the client, not the address."""
        return bool(self._rate(url).backoff)

    @contextmanager
    def _measure(self, name: str) -> Iterator[None]:
        """Remember how long an answer takes, for the next booking to write down."""
        began, answered = time.monotonic(), False
        self._thread.refused, self._thread.answered = False, ""
        try:
            yield
            answered = not self._thread.refused
        finally:
            seconds = time.monotonic() - began
            # What failed at once says nothing, and a refusal is recorded already.
            if answered or (seconds > SLOW_S and not self._thread.refused):
                with self._lock:
                    self._unwritten.setdefault(name, []).append(seconds)
                self._thread.answered = name

    def _forget_answer(self, name: str) -> None:
        """Take back the last answer of this thread: its body turned out to be a refusal."""
        with self._lock:
            if getattr(self._thread, "answered", "") == name and self._unwritten.get(name):
                self._unwritten[name].pop()
        self._thread.answered = ""

    def _book(self, name: str, interval: float) -> float:
        """Take the next free moment; the seconds until then."""
        with self._row(name) as (row, now):
            start = max(now, row.free, row.held)
            too_long = row.held - now > self.longest or start - now > turn_limit(self.longest)
            if not may_wait(start - now) or too_long:
                raise self._too_long_error(name, start - now)
            interval *= row.throttle.factor
            row.free = start + interval + min(_MOST_JITTER_S, interval * _JITTER) * random.random()
            return start - now

    def _leave(self, name: str, interval: float) -> float:
        """Leave now, or the seconds still to wait."""
        with self._row(name) as (row, now):
            if row.held - now > self.longest:
                raise self._too_long_error(name, row.held - now)
            interval *= row.throttle.factor
            pause = max(row.held, row.left + interval) - now
            if pause <= 0:
                row.left = now
                row.free = max(row.free, now + interval)
            return pause

    def _too_long_error(self, name: str, seconds: float) -> Unreachable:
        return Unreachable(*long_pause(name.partition("#")[0], seconds), retry_after=seconds)

    @contextmanager
    def _slot(self, name: str, rate: Rate) -> Iterator[None]:
        """Hold one of the slots that all processes share for requests under way at a site."""
        slots = slots_in(str(self._place / _SLOTS))
        with ExitStack() as held:
            try:
                limit = turn_limit(self.longest)
                held.enter_context(slots.hold(name, self._in_flight(rate), limit))
            except TimeoutError:
                may_wait(limit + self._every(rate))  # more than there is: the caller comes back
                raise self._too_long_error(name, self.longest + self._every(rate)) from None
            except OSError as error:
                self._recover(error)
                raise _storage_error(error) from error
            yield

    @contextmanager
    def _row(self, name: str) -> Iterator[tuple[_Row, float]]:
        """One bucket's state and the time, in a transaction; written back unless it raised."""
        try:
            with file_transaction(self._place / _FILE, _SCHEMAS) as db:
                # Read inside the transaction: the clock then agrees with the order of the bookings.
                now = time.time()
                row, known = self._read(db, name, now)
                yield row, now
                values = (name, row.free, row.left, row.held, row.backoff, row.seen)
                db.execute("INSERT OR REPLACE INTO turns VALUES (?, ?, ?, ?, ?, ?)", values)
                if (throttle := row.throttle.values()) != known:
                    db.execute(
                        f"INSERT OR REPLACE INTO throttles (bucket, {_THROTTLE})"  # noqa: S608
                        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        (name, *throttle),
                    )
            note_cooldown(row.held - now)
        except sqlite3.Error as error:
            self._recover(error)
            raise _storage_error(error) from error

    def _read(
        self, db: sqlite3.Connection, name: str, now: float
    ) -> tuple[_Row, tuple[float, ...]]:
        """A bucket's state, with the answers since the last write, and its throttle as stored."""
        free, left, held, backoff, seen, *throttle = db.execute(_READ, (name,)).fetchone()
        row = _Row() if free is None else _Row(free, left, held, backoff, seen)
        if throttle[0] is not None:
            row.throttle = Throttle(*throttle)
        known = row.throttle.values()
        row.shift_to(now)
        row.throttle.forget(now)
        with self._lock:
            taken = self._unwritten.pop(name, ())
        for seconds in taken:
            row.throttle.record_answer(seconds, now)
            row.backoff = 0.0
        return row, known

    def _recover(self, error: Exception) -> None:
        """Forget the folder, so that the next request looks for one again."""
        if place := self.__dict__.pop("_place", None):
            _set_aside_if_damaged(place / _FILE, error)

    @cached_property
    def _place(self) -> Path:
        """The first folder that can be written, made on first use."""
        for folder in (self._folder, self._settings.papers_dir / ".papershelf" / "pace"):
            for _ in range(2):  # the second time without a damaged file
                try:
                    create_folder(folder, 0o700)
                    with file_transaction(folder / _FILE, _SCHEMAS):
                        pass
                except (OSError, sqlite3.Error) as error:
                    log.warning("The rate limits cannot be kept in %s (%s).", folder, error)
                    _set_aside_if_damaged(folder / _FILE, error)
                else:
                    return folder.resolve()
        log.warning("Processes cannot share their rate limits; this one keeps its own.")
        return Path(tempfile.mkdtemp(prefix="papershelf-pace-"))

    def _name(self, rate: Rate) -> str:
        """The row of a bucket: sites count per key, so the key (hashed) tells the rows apart."""
        secret = self._settings.key(rate.key) if rate.key else ""
        mark = "#" + hashlib.sha256(secret.encode()).hexdigest()[:8] if secret else ""
        return rate.bucket + mark

    def _every(self, rate: Rate) -> float:
        keyed = bool(rate.key and self._settings.key(rate.key))
        interval = rate.every_with_key if keyed and rate.every_with_key is not None else rate.every
        chosen = getattr(self._settings, rate.delay) if rate.delay else None
        if chosen is None:
            return interval
        least = interval if keyed or rate.least is None else rate.least
        return max(least, float(chosen) / 1000)

    def _is_shared(self, rate: Rate) -> bool:
        """Return whether strangers use up the same allowance."""
        return rate.shared_without_key and not self._settings.key(rate.key)

    def _factor_max(self, rate: Rate) -> float:
        return FACTOR_MAX_SHARED if self._is_shared(rate) else FACTOR_MAX

    def _backoff(self, rate: Rate) -> tuple[float, float, float]:
        """The first backoff after a refusal, the longest, and how it grows.

        Where half of all calls are refused by chance, doubling would make the average wait endless.
        """
        if not rate.backoff:
            return *_BRIEF, 2.0
        if self._is_shared(rate):
            return rate.backoff, _GRAVEST_SHARED, _TIMES_SHARED
        return rate.backoff, _GRAVEST, 2.0

    def _in_flight(self, rate: Rate) -> int:
        keyed = bool(rate.key and self._settings.key(rate.key))
        return rate.in_flight_with_key if keyed and rate.in_flight_with_key else rate.in_flight

    def _rate(self, url: str) -> Rate:
        place = _place_of(url)
        if rate := self._own_paths.get(place):
            return rate
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
            (self._base(service), rate)
            for rate in self._rates
            if not rate.paths
            for service in rate.services
        ]

    @cached_property
    def _own_paths(self) -> dict[str, Rate]:
        return {
            self._base(service) + path: rate
            for rate in self._rates
            for service in rate.services
            for path in rate.paths
        }

    def _base(self, service: str) -> str:
        return _place_of(getattr(self._settings, f"{service}_base_url"))


_UNKNOWN = Rate(bucket="", services=(), every=1.0)


def _place_of(url: str) -> str:
    """Host, port unless it is the usual one, and path: http and https are one site.

    >>> _place_of("HTTPS://A.org:443/B/?q"), _place_of("http://a.org:8080")
    ('a.org/B', 'a.org:8080')
    """
    parts = urlsplit(url)
    usual = {"http": ":80", "https": ":443"}.get(parts.scheme, "")
    netloc = parts.netloc.rpartition("@")[2].lower().removesuffix(usual)
    return netloc + parts.path.rstrip("/")


def _within(place: str, base: str) -> bool:
    return place == base or place.startswith(base + "/")


def _storage_error(error: Exception) -> Unreachable:
    return Unreachable(f"The rate limits shared by all processes could not be kept ({error}).")


def _set_aside_if_damaged(path: Path, error: Exception) -> None:
    """Make room for a new file: nothing in the bookings must survive."""
    if is_damaged(error):
        with suppress(StoreFailed):
            set_aside(path, path.with_suffix(".damaged"))


class Cooldown:
    """The cooldown of the site that a piece of work asked last."""

    def __init__(self) -> None:
        self._until = 0.0

    def run(self, work: Callable[[], Result]) -> Result:
        """Call *work*; its requests count, also in threads that are given its context."""
        token = _current.set(self)
        try:
            return work()
        finally:
            _current.reset(token)

    def note(self, seconds: float) -> None:
        """The site asked now is in cooldown for so long; less than 0 when it is not."""
        self._until = time.monotonic() + seconds

    def seconds_left(self) -> float:
        """Seconds until the work can go on; 0 when no cooldown is in force."""
        return max(0.0, self._until - time.monotonic())


_current: ContextVar[Cooldown | None] = ContextVar("papershelf_hold", default=None)


def note_cooldown(seconds: float) -> None:
    """Note for callers of the current work that its site is in cooldown for *seconds*."""
    if hold := _current.get():
        hold.note(seconds)
