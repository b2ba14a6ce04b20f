"""The facts about a site that settings, reports and the shelf need: addresses, keys and routes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .paper import Version

KeptBy = Literal["indexers", "publishers", "machines", "preprint servers"]


@dataclass(frozen=True, slots=True)
class Address:
    """An address of a site: the setting ``<service>_base_url``, its default, what is there."""

    service: str
    url: str
    about: str


@dataclass(frozen=True, slots=True)
class Key:
    """A key that a user may have.

    ``setting`` names it, ``gives`` says what it brings, ``page`` is the address where one gets it,
    and ``aliases`` are other names of its variable.
    """

    setting: str
    gives: str
    page: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SiteRoute:
    """A route to full text: its short name, its name for people, and the version of its texts.

    ``version`` is empty where the texts say it themselves; ``terms`` what binds whoever keeps a
    text that came this way, unless its own licence is a free one (empty: nothing but that).
    """

    via: str
    label: str
    version: Version = "published"
    terms: str = ""


@dataclass(frozen=True, slots=True)
class Site:
    """One site, as settings, reports and the shelf need it; `..sources.Source` has the same fields.

    The first of the ``addresses`` is the one that `doctor` asks, for the first site that has it.
    ``kept_by`` says who keeps its records, where they are merged with others', ``searched`` its
    place among the sites that are searched side by side (0: not among them; ``search_needs_key``:
    only where the first of its ``keys`` is set), and ``many_hosts`` that its routes lead to hosts
    of many publishers.
    """

    name: str
    addresses: tuple[Address, ...]
    keys: tuple[Key, ...] = ()
    routes: tuple[SiteRoute, ...] = ()
    kept_by: KeptBy | None = None
    searched: int = 0
    search_needs_key: bool = False
    many_hosts: bool = False
