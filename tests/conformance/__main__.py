"""``python -m tests.conformance``: the ledger as a table in markdown."""

from tests.conformance.ledger import LEDGER

print("| document | paragraph | requirement | called as | doors | deviation |")  # noqa: T201
print("| --- | --- | --- | --- | --- | --- |")  # noqa: T201
for item in LEDGER:
    doors = ", ".join(item.doors)
    row = (item.document, item.place, item.what, f"`{item.operation}`", doors, item.deviation)
    print("|", " | ".join(row), "|")  # noqa: T201
