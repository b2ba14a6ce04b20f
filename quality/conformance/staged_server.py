"""``server.py`` on a clock that moves when somebody sleeps: the pace of sites takes no time.

Everything else is the real thing: a process of its own, its pipes, its shelf.
"""

import os
import sys
import time
from pathlib import Path

from quality.conformance.shared_clock import SharedClock

if __name__ == "__main__":
    stage = SharedClock(Path(os.environ["STAGE_CLOCK"]))
    time.sleep, time.time = stage.sleep, stage.time
    from utils.__main__ import main

    sys.exit(main())
