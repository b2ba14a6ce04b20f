"""``python -m tests.world``: run the stand-in internet and say how to reach it."""

import argparse
import contextlib
import json
import signal
import sys
import threading
from dataclasses import asdict
from pathlib import Path

from tests.world import World
from tests.world.moods import MOODS


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m tests.world", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="of the services; any when left out")
    parser.add_argument("--corpus", type=Path, help="folder with articles.jsonl")
    parser.add_argument(
        "--mood",
        action="append",
        default=[],
        metavar="NAME[:SERVICE[:TIMES]]",
        help=f"misbehave: {', '.join(MOODS)}",
    )
    parser.add_argument("--env", type=Path, metavar="FILE", help="write the variables here, too")
    parser.add_argument(
        "--record", type=Path, metavar="FILE", help="requests as JSON lines, at the end"
    )
    parser.add_argument("--crowd", type=int, default=0, help="so many PubMed records more")
    parser.add_argument("--field", type=int, default=0, help="so many whole papers more")
    parser.add_argument("--latency", type=float, default=0, help="seconds every answer takes")
    parser.add_argument(
        "--subscribed", default="", help="whose readers we are: elsevier,wiley,springer"
    )
    parser.add_argument("--until-eof", action="store_true", help="end when standard input does")
    options = parser.parse_args()
    for stop in (signal.SIGINT, signal.SIGTERM):  # a shell's background job would ignore the first
        signal.signal(stop, signal.default_int_handler)
    shape = {"crowd": options.crowd, "field": options.field, "latency": options.latency}
    with World(corpus=options.corpus, port=options.port, **shape) as world:
        world.subscribed.update(filter(None, options.subscribed.split(",")))
        for mood in options.mood:
            name, service, times = [*mood.split(":"), "", ""][:3]
            world.mood(name, service, int(times) if times else None)
        lines = "\n".join(f"{name}={value}" for name, value in world.environment().items())
        sys.stdout.write(f"{lines}\n")
        sys.stdout.flush()
        if options.env:
            options.env.write_text(lines + "\n", encoding="utf-8")
        with contextlib.suppress(KeyboardInterrupt):
            if options.until_eof:
                sys.stdin.buffer.read()  # whoever started us holds the other end
            else:
                threading.Event().wait()
        if options.record:
            rows = (json.dumps(asdict(request), ensure_ascii=False) for request in world.requests)
            options.record.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
