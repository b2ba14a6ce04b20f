"""Papershelf as its clients see it: official ones in both eras, and one that asks for anything.

- `tour`: one call of every tool, resource, prompt and completion, the same for all clients;
  ``python -m quality.clients`` prints which client went where (the client matrix)
- `any_arguments`: calls made from the tools' own schemas, and who judges the answers
  (``quality/clients/any_calls.py`` makes as many as one likes)

Schemas are checked by ``jsonschema`` and ``ajv``, which know nothing of the server.
"""
