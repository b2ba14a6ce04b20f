"""Papershelf as its clients see it: official ones in both eras.

- `tour`: one call of every tool, resource, prompt and completion, the same for all clients;
  ``python -m quality.clients`` prints which client went where (the client matrix)
- `judge`: what is wrong with an answer

Schemas are checked by ``jsonschema`` and ``ajv``, which know nothing of the server.
"""
