"""Measurements of other people's MCP clients: from npm, and frameworks' adapters.

- ``python -m quality.clients`` prints the client matrix: which client made which calls
- `npm_clients`, ``typescript.mjs``, ``package.json``: the clients from npm
- `matrix`: what a model receives through each host and adapter
- `research`: ten research tasks, with the calls and tokens they take
"""
