"""What the checks of the ledger compare is shown where they fail."""

import pytest

_DOCUMENTS = (f"document_{number:03}" for number in range(5))
pytest.register_assert_rewrite(
    *(f"quality.conformance.{name}" for name in ("items", "settings", "contracts", *_DOCUMENTS))
)
