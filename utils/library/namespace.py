"""The common parts of a library's namespaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..system.keyword_options import reject_wrong_options
from ..system.nearest import find_nearest_name

if TYPE_CHECKING:
    from . import Library


_ROOT = (__package__ or "").rpartition(".")[0]
OPTION_TYPES = {
    "QueryOptions": f"{_ROOT}.sources",
    "ListingOptions": f"{_ROOT}.shelf.listing",
}
"""The modules of the typed dictionaries that methods of a library take as options."""


def build_unknown_member_error(owner: str, name: str, meant: str) -> AttributeError:
    """Return the error for a member that *owner* does not have; *meant* is the nearest, or ""."""
    hint = f". Did you mean {meant}?" if meant else ""
    return AttributeError(f"{owner} has no member {name!r}{hint}")


class Namespace:
    """A group of a library's methods, such as ``library.harvests``."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        reject_wrong_options(OPTION_TYPES)(cls)

    def __init__(self, library: Library) -> None:
        self._library = library

    if not TYPE_CHECKING:  # a checker that saw it would believe in every name

        def __getattr__(self, name: str) -> Any:
            """Suggest a member for a mistyped one."""
            owner = f"library.{type(self).__name__.lower()}"
            raise build_unknown_member_error(owner, name, find_nearest_name(name, dir(self)))

    def __repr__(self) -> str:
        """Name the shelf, and what can be done."""
        verbs = ", ".join(name for name in dir(self) if not name.startswith("_"))
        return f"<{type(self).__name__} of {self._library.settings.papers_dir}: {verbs}>"
