"""``server.py`` on the stage clock of the tests: it waits for nobody, and still keeps every limit.

SIGUSR1 lets an hour pass. Only what it waits for is played; process, pipes and logs are real.
"""

import signal
import sys
import time

from tests.clock import Clock
from utils.__main__ import main

if __name__ == "__main__":
    clock = Clock(time.time)
    time.sleep, time.time = clock.sleep, clock.time
    signal.signal(signal.SIGUSR1, lambda *_: clock.sleep(3600))
    sys.exit(main())
