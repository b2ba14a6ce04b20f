"""``python -m quality.conformance``: the ledger as a table in markdown, with its totals."""

# ruff: noqa: T201 - it is there to print
from quality.conformance.ledger import LEDGER, totals


def main() -> None:
    """Print every item, and the totals by document."""
    print("| document | paragraph | requirement | called as | doors | deviation |")
    print("| --- | --- | --- | --- | --- | --- |")
    for item in LEDGER:
        doors = ", ".join(item.offered)
        row = (item.document, item.place, item.what, f"`{item.operation}`", doors, item.deviation)
        print("|", " | ".join(cell.replace("|", "\\|") for cell in row), "|")
    print("\n| document | what it is | items | calls | deviations |")
    print("| --- | --- | --- | --- | --- |")
    for document, about, *numbers in totals():
        print("|", " | ".join([document, about, *map(str, numbers)]), "|")
    sums = [sum(column) for column in zip(*(row[2:] for row in totals()), strict=True)]
    print("|", " | ".join(["all", "", *map(str, sums)]), "|")


if __name__ == "__main__":
    main()
