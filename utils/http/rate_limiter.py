"""Limit request rates: one clock per site, shared by all threads and processes of this user.

NCBI blocks whole addresses when three requests a second are exceeded. A server, a shell and a
notebook on one machine must therefore share one limiter, also when they keep their papers in
different folders. Its state is one small SQLite file. A request

1. books the next free moment in a short transaction, and sleeps outside the transaction,
2. waits for one of the site's slots (`locks.Slots`),
3. checks in a second transaction that the site's interval has passed since the previous request
   (a process may have woken late) and that no cooldown began meanwhile.

The `Throttle` of a site is saved together with a booking. Published limits: each source's `Rate`.

A caller that reports a wait must not name a site that its work does not use. So `RateLimiter`
records, with every request, how long the site of that request is in cooldown (`Cooldown`), in the
context of the work.
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
from ..system.sqlite import is_damage_error, move_database_aside, open_file_transaction
from .locks import get_slots
from .retry import MAX_FACTOR, MAX_FACTOR_SHARED, MAX_WAIT_S, SLOW_S, Throttle, describe_pause
from .work import get_turn_limit, sleep_unless_cancelled, spend_patience

if TYPE_CHECKING:
    from ..settings import Settings

log = logging.getLogger(__name__)
_JITTER_RATIO = 0.1  # of the interval, only ever added
_MAX_COOLDOWN_S = 86400.0
_MAX_JITTER_S = 0.05
_MAX_BACKOFF_S = 3600.0  # our own backoff doubles while a site keeps refusing, up to an hour
_MAX_BACKOFF_SHARED_S = 300.0  # where strangers use up the allowance, and any of them may stop
_BACKOFF_GROWTH_SHARED = 1.6
_DEFAULT_BACKOFF_S = (1.0, 30.0)  # the same for sites without one of their own: from, to
_FILE, _SLOTS = "pace.sqlite", "slots.lock"
# Two tables: processes of an older version know the first one only.
_SCHEMAS = (
    """CREATE TABLE IF NOT EXISTS turns (
    bucket TEXT PRIMARY KEY, free REAL, left REAL, held REAL, penalty REAL, seen REAL)""",
    """CREATE TABLE IF NOT EXISTS throttles (
    bucket TEXT PRIMARY KEY, factor REAL, usual REAL, lately REAL, heard INTEGER, grown REAL,
    good REAL, calls INTEGER, good_when_slower REAL)""",
)
_THROTTLE_COLUMNS = "factor, usual, lately, heard, grown, good, calls, good_when_slower"
_SELECT_STATE = f"""SELECT free, left, held, penalty, seen, {_THROTTLE_COLUMNS}
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
        The interval if the key is set.
    key : str, optional
        The settings field of the key that changes the rate limit.
    in_flight : int, optional
        The maximum number of simultaneous requests of all threads and processes.
    in_flight_with_key : int, optional
        The same maximum if the key is set.
    backoff : float, optional
        Seconds of cooldown after a 403, 429 or 503 without a time; doubles while rejections go on.
    hosts : tuple of str, optional
        Further hosts, with their subdomains, that count to this bucket.
    delay : str, optional
        The settings field (milliseconds) with which a user chooses another interval.
    least : float, optional
        The shortest interval that a user can choose; ``every`` by default.
    asked : callable, optional
        Returns the seconds of cooldown that the headers of an answer ask for, mostly 0; for sites
        that announce a limit before they refuse.
    paths : tuple of str, optional
        Only requests to exactly these paths below the services' addresses count to this bucket: a
        site's search may have a limit of its own.
    shared_without_key : bool, optional
        True if all users without a key share one allowance; a refusal then says little about us.
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
class _BucketState:
    """The state of one bucket, in seconds of `time.time`."""

    free: float = 0.0  # the next moment that is not booked
    left: float = 0.0  # when the last request was sent
    held: float = 0.0  # the end of the cooldown
    backoff: float = 0.0  # the length of the last backoff
    seen: float = 0.0  # the latest clock reading
    throttle: Throttle = field(default_factory=Throttle)

    def adjust_to_clock(self, now: float) -> None:
        """Shift all times if the clock was set back, so that an hour back is not an hour's wait."""
        if (back := self.seen - now) > 0:
            self.free, self.left, self.held = self.free - back, self.left - back, self.held - back
        self.seen = now


class RateLimiter:
    """Reserves the times of requests to sites, and waits for them.

    Parameters
    ----------
    folder : Path
        The folder of the bookings; created (0700) on first use. If that fails, the shelf's own
        ``.papershelf/pace`` is used, and then a folder of this process.
    settings : Settings
        Base URLs, keys and NCBI's delay.
    rates : sequence of Rate
        The rate limit of each site; unknown hosts get *default*.
    longest : float, optional
        The longest time in the queue in seconds; a longer wait makes the site unreachable.
    default : float, optional
        Seconds between two requests to an unknown host.
    """

    def __init__(
        self,
        folder: Path,
        settings: Settings,
        rates: Sequence[Rate],
        longest: float = MAX_WAIT_S,
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

    def find_bucket(self, url: str) -> str:
        """Return the bucket with the longest base URL that matches, else host and port."""
        return self._find_rate(url).bucket

    def list_intervals(self) -> list[tuple[Rate, float]]:
        """Return the seconds between requests to each site, by present keys and settings."""
        return [(rate, self._get_interval(rate)) for rate in self._rates]

    def list_slowdowns(self) -> dict[str, float]:
        """Return by bucket the factor on the published interval, if it is more than 1.

        The factor grows when a site refuses or becomes slow.
        """
        rows: list[tuple[str, float, float]] = []
        with suppress(sqlite3.Error):  # no file yet, or one of an older version
            if (self._folder / _FILE).exists():
                with open_file_transaction(self._folder / _FILE, _SCHEMAS) as db:
                    rows = db.execute("SELECT bucket, factor, grown FROM throttles").fetchall()
        found = {name.partition("#")[0]: Throttle(factor, grown=at) for name, factor, at in rows}
        for throttle in found.values():
            throttle.reset_if_old(time.time())
        return {name: throttle.factor for name, throttle in found.items() if throttle.factor > 1}

    @contextmanager
    def wait_for_turn(self, url: str) -> Iterator[None]:
        """Wait until a request to *url* may be sent; send the request inside.

        Raises
        ------
        Unreachable
            The wait for a turn would be longer than the `Patience` of the current work (without
            one, than ``longest``), or the site asked all of us to stay away for longer.
        """
        rate = self._find_rate(url)
        name, interval = self._build_row_name(rate), self._get_interval(rate)
        sleep_unless_cancelled(self._reserve_turn(name, interval))
        with self._hold_slot(name, rate):
            while (pause := self._confirm_turn(name, interval)) > 0:
                if not spend_patience(pause):
                    raise self._build_wait_error(name, pause)
                sleep_unless_cancelled(pause)
            with self._measure_answer(name):
                yield

    def start_cooldown(self, url: str, seconds: float) -> None:
        """Start a cooldown of *seconds* (at most a day) for the site of *url*."""
        with self._open_state(self._build_row_name(self._find_rate(url))) as (row, now):
            row.held = max(row.held, now + min(seconds, _MAX_COOLDOWN_S))
            row.free = max(row.free, row.held)

    def apply_rate_headers(self, url: str, headers: Mapping[str, str]) -> float:
        """Start the cooldown that the headers of an answer ask for; return its seconds."""
        asked = self._find_rate(url).asked
        seconds = asked(headers) if asked else 0.0
        if seconds > 0:
            self.start_cooldown(url, seconds)
        return seconds

    def record_rejection(self, url: str, retry_after: float = 0.0) -> float:
        """Start a cooldown after a refusal, for all processes; return its seconds.

        The cooldown takes *retry_after*, or else our own backoff, which grows if the site refuses
        again soon after. Without *retry_after*, 0 is returned unless the site's `Rate` has a
        ``backoff``.
        """
        rate = self._find_rate(url)
        self._discard_measurement(self._build_row_name(rate))
        with self._open_state(self._build_row_name(rate)) as (row, now):
            self._thread.refused = True
            first = row.held <= now  # the others were in progress at the first refusal
            row.throttle.record_refusal(now, self._get_max_factor(rate), first=first)
            if retry_after:
                row.held = max(row.held, now + min(retry_after, _MAX_COOLDOWN_S))
            elif first:
                least, most, times = self._get_backoff(rate)
                again = row.backoff and now - row.held < max(least, row.backoff)
                row.backoff = min(most, row.backoff * times) if again else least
                row.held = now + row.backoff
            row.free = max(row.free, row.held)
            return retry_after or (row.held - now if rate.backoff else 0.0)

    def is_refusal_of_client(self, url: str) -> bool:
        """Return whether a 403 or 503 of this site rejects the client, not just one address."""
        return bool(self._find_rate(url).backoff)

    @contextmanager
    def _measure_answer(self, name: str) -> Iterator[None]:
        """Measure how long an answer takes; the next reservation stores the duration."""
        began, answered = time.monotonic(), False
        self._thread.refused, self._thread.answered = False, ""
        try:
            yield
            answered = not self._thread.refused
        finally:
            seconds = time.monotonic() - began
            # An immediate failure measures nothing, and a refusal is recorded already.
            if answered or (seconds > SLOW_S and not self._thread.refused):
                with self._lock:
                    self._unwritten.setdefault(name, []).append(seconds)
                self._thread.answered = name

    def _discard_measurement(self, name: str) -> None:
        """Discard the last measured answer of this thread, which proved to be a refusal."""
        with self._lock:
            if getattr(self._thread, "answered", "") == name and self._unwritten.get(name):
                self._unwritten[name].pop()
        self._thread.answered = ""

    def _reserve_turn(self, name: str, interval: float) -> float:
        """Reserve the next free moment; return the seconds until then."""
        with self._open_state(name) as (row, now):
            start = max(now, row.free, row.held)
            too_long = row.held - now > self.longest or start - now > get_turn_limit(self.longest)
            if not spend_patience(start - now) or too_long:
                raise self._build_wait_error(name, start - now)
            interval *= row.throttle.factor
            row.free = (
                start + interval + min(_MAX_JITTER_S, interval * _JITTER_RATIO) * random.random()
            )
            return start - now

    def _confirm_turn(self, name: str, interval: float) -> float:
        """Confirm the turn now, or return the seconds still to wait."""
        with self._open_state(name) as (row, now):
            if row.held - now > self.longest:
                raise self._build_wait_error(name, row.held - now)
            interval *= row.throttle.factor
            pause = max(row.held, row.left + interval) - now
            if pause <= 0:
                row.left = now
                row.free = max(row.free, now + interval)
            return pause

    def _build_wait_error(self, name: str, seconds: float) -> Unreachable:
        """Return the error for a wait that is too long."""
        return Unreachable(*describe_pause(name.partition("#")[0], seconds), retry_after=seconds)

    @contextmanager
    def _hold_slot(self, name: str, rate: Rate) -> Iterator[None]:
        """Hold one of the slots that all processes share for requests in progress at a site."""
        slots = get_slots(str(self._state_folder / _SLOTS))
        with ExitStack() as held:
            try:
                limit = get_turn_limit(self.longest)
                held.enter_context(slots.hold_slot(name, self._get_max_in_flight(rate), limit))
            except TimeoutError:
                spend_patience(
                    limit + self._get_interval(rate)
                )  # exceeds the patience, so that the caller returns
                raise self._build_wait_error(
                    name, self.longest + self._get_interval(rate)
                ) from None
            except OSError as error:
                self._reset_folder(error)
                raise _build_storage_error(error) from error
            yield

    @contextmanager
    def _open_state(self, name: str) -> Iterator[tuple[_BucketState, float]]:
        """Yield one bucket's state and the time, in a transaction; save the state."""
        try:
            with open_file_transaction(self._state_folder / _FILE, _SCHEMAS) as db:
                # Read inside the transaction: the clock then agrees with the order of the bookings.
                now = time.time()
                row, known = self._read_state(db, name, now)
                yield row, now
                values = (name, row.free, row.left, row.held, row.backoff, row.seen)
                db.execute("INSERT OR REPLACE INTO turns VALUES (?, ?, ?, ?, ?, ?)", values)
                if (throttle := row.throttle.to_values()) != known:
                    db.execute(
                        f"INSERT OR REPLACE INTO throttles (bucket, {_THROTTLE_COLUMNS})"  # noqa: S608
                        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        (name, *throttle),
                    )
            record_cooldown(row.held - now)
        except sqlite3.Error as error:
            self._reset_folder(error)
            raise _build_storage_error(error) from error

    def _read_state(
        self, db: sqlite3.Connection, name: str, now: float
    ) -> tuple[_BucketState, tuple[float, ...]]:
        """Return a bucket's state, updated with unwritten answers, and its throttle as stored."""
        free, left, held, backoff, seen, *throttle = db.execute(_SELECT_STATE, (name,)).fetchone()
        row = _BucketState() if free is None else _BucketState(free, left, held, backoff, seen)
        if throttle[0] is not None:
            row.throttle = Throttle(*throttle)
        known = row.throttle.to_values()
        row.adjust_to_clock(now)
        row.throttle.reset_if_old(now)
        with self._lock:
            taken = self._unwritten.pop(name, ())
        for seconds in taken:
            row.throttle.record_answer(seconds, now)
            row.backoff = 0.0
        return row, known

    def _reset_folder(self, error: Exception) -> None:
        """Discard the chosen folder, so that the next request looks for one again."""
        if place := self.__dict__.pop("_state_folder", None):
            _move_aside_if_damaged(place / _FILE, error)

    @cached_property
    def _state_folder(self) -> Path:
        """The first folder that can be written; created on first use."""
        for folder in (self._folder, self._settings.papers_dir / ".papershelf" / "pace"):
            for _ in range(2):  # the second time without a damaged file
                try:
                    create_folder(folder, 0o700)
                    with open_file_transaction(folder / _FILE, _SCHEMAS):
                        pass
                except (OSError, sqlite3.Error) as error:
                    log.warning("The rate limits cannot be kept in %s (%s).", folder, error)
                    _move_aside_if_damaged(folder / _FILE, error)
                else:
                    return folder.resolve()
        log.warning("Processes cannot share their rate limits; this one keeps its own.")
        return Path(tempfile.mkdtemp(prefix="papershelf-pace-"))

    def _build_row_name(self, rate: Rate) -> str:
        """Return the row name of a bucket, with a hash of the key: sites count per key."""
        secret = self._settings.key(rate.key) if rate.key else ""
        mark = "#" + hashlib.sha256(secret.encode()).hexdigest()[:8] if secret else ""
        return rate.bucket + mark

    def _get_interval(self, rate: Rate) -> float:
        """Return the seconds between two requests, by the present keys and settings."""
        keyed = bool(rate.key and self._settings.key(rate.key))
        interval = rate.every_with_key if keyed and rate.every_with_key is not None else rate.every
        chosen = getattr(self._settings, rate.delay) if rate.delay else None
        if chosen is None:
            return interval
        least = interval if keyed or rate.least is None else rate.least
        return max(least, float(chosen) / 1000)

    def _is_allowance_shared(self, rate: Rate) -> bool:
        """Return whether other users consume the same allowance."""
        return rate.shared_without_key and not self._settings.key(rate.key)

    def _get_max_factor(self, rate: Rate) -> float:
        """Return the largest factor of a site's throttle."""
        return MAX_FACTOR_SHARED if self._is_allowance_shared(rate) else MAX_FACTOR

    def _get_backoff(self, rate: Rate) -> tuple[float, float, float]:
        """Return the first backoff after a rejection, the longest, and the growth factor.

        Where half of all calls are refused by chance, doubling would make the average wait endless.
        """
        if not rate.backoff:
            return *_DEFAULT_BACKOFF_S, 2.0
        if self._is_allowance_shared(rate):
            return rate.backoff, _MAX_BACKOFF_SHARED_S, _BACKOFF_GROWTH_SHARED
        return rate.backoff, _MAX_BACKOFF_S, 2.0

    def _get_max_in_flight(self, rate: Rate) -> int:
        """Return how many requests may be in progress at a site at once."""
        keyed = bool(rate.key and self._settings.key(rate.key))
        return rate.in_flight_with_key if keyed and rate.in_flight_with_key else rate.in_flight

    def _find_rate(self, url: str) -> Rate:
        """Return the rate limit for a URL."""
        place = _normalize_url(url)
        if rate := self._own_paths.get(place):
            return rate
        host = place.partition("/")[0]
        fitting = [(base, rate) for base, rate in self._base_urls if _is_path_within(place, base)]
        if fitting:
            return max(fitting, key=lambda pair: len(pair[0]))[1]
        for rate in self._rates:
            if any(f".{host}".endswith(f".{known}") for known in rate.hosts):
                return rate
        return replace(_UNKNOWN_SITE_RATE, bucket=host, every=self._default)

    @cached_property
    def _base_urls(self) -> list[tuple[str, Rate]]:
        """The base URLs of the sites, with their rate limits."""
        return [
            (self._get_base_url(service), rate)
            for rate in self._rates
            if not rate.paths
            for service in rate.services
        ]

    @cached_property
    def _own_paths(self) -> dict[str, Rate]:
        """The paths that have a rate limit of their own."""
        return {
            self._get_base_url(service) + path: rate
            for rate in self._rates
            for service in rate.services
            for path in rate.paths
        }

    def _get_base_url(self, service: str) -> str:
        """Return the normalised base URL of a service."""
        return _normalize_url(getattr(self._settings, f"{service}_base_url"))


_UNKNOWN_SITE_RATE = Rate(bucket="", services=(), every=1.0)


def _normalize_url(url: str) -> str:
    """Return host, unusual port and path of a URL, so that http and https are one site.

    >>> _normalize_url("HTTPS://A.org:443/B/?q"), _normalize_url("http://a.org:8080")
    ('a.org/B', 'a.org:8080')
    """
    parts = urlsplit(url)
    usual = {"http": ":80", "https": ":443"}.get(parts.scheme, "")
    netloc = parts.netloc.rpartition("@")[2].lower().removesuffix(usual)
    return netloc + parts.path.rstrip("/")


def _is_path_within(place: str, base: str) -> bool:
    """Return whether a path is at or below a base URL."""
    return place == base or place.startswith(base + "/")


def _build_storage_error(error: Exception) -> Unreachable:
    """Return the error for rate limits that cannot be stored."""
    return Unreachable(f"The rate limits shared by all processes could not be kept ({error}).")


def _move_aside_if_damaged(path: Path, error: Exception) -> None:
    """Move a damaged file aside: reservations need not survive."""
    if is_damage_error(error):
        with suppress(StoreFailed):
            move_database_aside(path, path.with_suffix(".damaged"))


class Cooldown:
    """The cooldown of the last site to which a piece of work sent a request."""

    def __init__(self) -> None:
        self._until = 0.0

    def run(self, work: Callable[[], Result]) -> Result:
        """Call *work*; its requests count, also in threads that copy its context."""
        token = _current_cooldown.set(self)
        try:
            return work()
        finally:
            _current_cooldown.reset(token)

    def record_seconds(self, seconds: float) -> None:
        """Record the cooldown of the current site in seconds; negative for no cooldown."""
        self._until = time.monotonic() + seconds

    def get_seconds_left(self) -> float:
        """Return the seconds until the work can continue; 0 without a cooldown."""
        return max(0.0, self._until - time.monotonic())


_current_cooldown: ContextVar[Cooldown | None] = ContextVar("papershelf_hold", default=None)


def record_cooldown(seconds: float) -> None:
    """Record for callers of the current work that its site is in cooldown for *seconds*."""
    if hold := _current_cooldown.get():
        hold.record_seconds(seconds)
