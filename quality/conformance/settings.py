"""Checks of the settings as a door shows them."""

from quality.conformance.items import Check, Met


def _shown(met: Met, name: str) -> str:
    [found] = [row["value"] for row in met.value if row["name"] == name]
    return str(found)


def setting(name: str, value: str) -> Check:
    """A setting is in force with this value."""

    def check(met: Met) -> None:
        assert (name, _shown(met, name)) == (name, value)

    return check


def secret(name: str) -> Check:
    """A secret is set, and not shown."""

    def check(met: Met) -> None:
        assert _shown(met, name) in ("set (hidden)", "**********")

    return check
