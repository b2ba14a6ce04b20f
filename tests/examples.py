"""How often a property is tried: a third of what is meant, and all of it with ``EXAMPLES=all``.

CI tries all; whoever changes what a property is about does so, too.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, settings

ALL = os.environ.get("EXAMPLES") == "all"


def often(examples: int = 100, **more: Any) -> settings:
    """So many *examples* where all are tried. None fails by its clock: that is the machine's."""
    tried = examples if ALL else max(1, examples // 3)
    known = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
    return settings(**{**known, **more}, max_examples=tried)
