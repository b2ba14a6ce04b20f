"""The tests; whatever imports one of them, or is started by one, keeps the bytecode it makes.

Else every worker, and every process that a test starts, would compile all of it again.
"""

import os
import sys

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
