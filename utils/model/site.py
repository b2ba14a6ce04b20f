"""Facts about a site that settings, reports and the shelf need: addresses, keys and routes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .paper import Version

KeptBy = Literal["indexers", "publishers", "machines", "preprint servers"]


@dataclass(frozen=True, slots=True)
class Address:
    """An address of a site: the setting ``<service>_base_url``, its default and its meaning."""

    service: str
    url: str
    about: str


@dataclass(frozen=True, slots=True)
class Key:
    """A key that a user may have for a site.

    ``setting`` names the key, ``gives`` says what the key is good for, ``page`` is the address
    where to get the key, and ``aliases`` are other names of its variable.
    """

    setting: str
    gives: str
    page: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SiteRoute:
    """A route to full text: its short name, its name for people, and the version of its texts.

    ``version`` is empty if each text declares its own version. ``terms`` are the conditions for
    keeping a text from this route, unless its licence allows passing it on (empty: none).
    """

    via: str
    label: str
    version: Version = "published"
    terms: str = ""


@dataclass(frozen=True, slots=True)
class Site:
    """One site, as settings, reports and the shelf need it; `..sources.Source` has the same fields.

    `doctor` checks the first of the ``addresses``, once if several sites share it. ``kept_by`` is
    the kind of organisation that keeps the records, if they are merged with records of other
    sites. ``searched`` is the site's place among the sites that are searched in parallel (0: not
    searched; with ``search_needs_key``, only if the first of its ``keys`` is set). ``many_hosts``
    is True if its routes lead to hosts of many publishers.
    """

    name: str
    addresses: tuple[Address, ...]
    keys: tuple[Key, ...] = ()
    routes: tuple[SiteRoute, ...] = ()
    kept_by: KeptBy | None = None
    searched: int = 0
    search_needs_key: bool = False
    many_hosts: bool = False
