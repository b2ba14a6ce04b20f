"""Reading processes that misbehave in a chosen way."""


def reader(work: str) -> str:
    """How to start a child that evaluates *work* on each ``body`` it is given."""
    return (
        "import sys; sys.path.insert(0, sys.argv[1]); import os, time\n"
        "from utils.readers.child_processes import serve_jobs\n"
        f"serve_jobs(lambda body: {work})"
    )


DIES, HANGS = reader("os._exit(9)"), reader("time.sleep(600)")
