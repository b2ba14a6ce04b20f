"""Measurements with MCP clients: from npm, frameworks' adapters, and callers of our own.

- ``python -m quality.clients`` prints the client matrix: which client made which calls
- `npm_clients`, ``typescript.mjs``, ``package.json``: the clients from npm
- `matrix`: what a model receives through each host and adapter
- `any_calls`: calls of any kind, as many as one likes; a sample of them is a test
- `first_calls`: every pair of tools as the first calls of a fresh process
- `research`: ten research tasks, with the calls and tokens they take
"""
