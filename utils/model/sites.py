"""List every site that has a source, with the tables derived from the list.

Settings, reports and the shelf need an address, a key or a route's name without importing all
sources, which takes time. So `.site_list` repeats these facts of the files in ``sources/``;
``python -m docs.reference`` writes that module. Sites of plugins come after our own.

The order matters: lookups are tried from top to bottom until a paper is known, and the full-text
ladder follows ``PAPERS_SOURCES``, whose default is this order, too.
"""

from __future__ import annotations

from ..plugins import list_plugins
from .site import KeptBy, Site
from .site_list import OWN

_TRUSTED: tuple[KeptBy, ...] = ("indexers", "publishers", "machines", "preprint servers")
SITES: tuple[Site, ...] = (
    *OWN,
    *(site for plugin in list_plugins() for site in plugin.sources.values()),
)
ROUTES = {route.via: route for site in SITES for route in site.routes}
KEYS = tuple(key for site in SITES for key in site.keys)
TEXT_SOURCES = tuple(site.name for site in SITES if site.routes)
"""The default ladder."""
SEARCHED_SOURCES = {
    site.name: site.keys[0].setting if site.search_needs_key else ""
    for site in sorted(SITES, key=lambda site: site.searched)
    if site.searched
}
"""Sites that are searched in parallel, with the key that a site needs; "" if it needs none."""
SOURCES_BY_TRUST = tuple(
    site.name for kept_by in _TRUSTED for site in SITES if site.kept_by == kept_by
)
"""Sites whose records are merged, the most trusted first."""
