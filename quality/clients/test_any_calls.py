"""Every tool of every toolset under arguments of every kind: a valid result or the envelope."""

from quality.clients.any_arguments import Caller, Calls, make_calls
from quality.clients.any_calls import InMemory
from tests.examples import ALL
from utils import Library

CALLS = 650 if ALL else 250  # quality/clients/any_calls.py makes as many as one likes


def test_any_call_gets_a_valid_result_or_the_envelope(settings, world, capfd):
    with InMemory(Library(**settings, mcp_toolsets=("all",))) as server:
        caller = Caller(server.tools, server.call, server.heard)
        make_calls(caller, Calls(server.tools, world), CALLS, world, server.settle)
    tally = caller.tally
    assert not tally.defects, tally.reproductions()
    # Every tool was called, and neither refusals only nor results only came back.
    named = {tool["name"] for tool in server.tools}
    assert set(tally.results) | set(tally.refusals) == named, tally.table()
    # A representative part calls each tool some seven times: by chance, more of them refuse all.
    assert len(tally.results) > len(named) * (0.8 if ALL else 0.6), tally.table()
    assert min(tally.results.total(), tally.refusals.total()) > CALLS / 5, tally.table()
    assert capfd.readouterr().out == ""
