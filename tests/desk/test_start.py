"""The desk starts quickly, on the loopback interface only, and needs no other door."""

import json
import socket
import sys
from pathlib import Path

import pytest

from tests.processes import run
from utils import Library
from utils.desk import server
from utils.errors import BadRequest

ROOT = Path(__file__).resolve().parents[2]
IMPORTED = """
import json, sys
from utils import Library
from utils.desk.server import build_server
build_server(Library(papers_dir=sys.argv[1]), 0, lambda address: None)
json.dump(sorted(sys.modules), sys.stdout)
"""
UNUSED = {"fastmcp", "sklearn", "sqlalchemy", "requests", "utils.mcp", "utils.cli", "utils.corpus"}
UNUSED |= {"utils.review", "utils.manuscript", "utils.entrez", "utils.mirror", "utils.harvest.jobs"}


def test_the_start_imports_no_feature(tmp_path):
    done = run([sys.executable, "-c", IMPORTED, str(tmp_path)], cwd=ROOT)
    assert not UNUSED & set(json.loads(done.stdout))


def test_the_desk_listens_on_the_loopback_interface_only(tmp_path):
    found = []
    made = server.build_server(Library(papers_dir=tmp_path), 0, found.append)
    assert found[0].startswith("http://127.0.0.1:")
    assert made._listening.getsockname()[0] == "127.0.0.1"
    made._listening.close()


def test_a_port_that_is_taken_is_named(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(BadRequest, match=f"port {port}"):
            server.build_server(Library(papers_dir=tmp_path), port, print)
