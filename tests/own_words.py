"""Running prose for tests, no stretch of it like another: the judge counts nothing twice."""

from itertools import cycle, islice

_WHO = ("Observers", "Two of us", "Students", "Volunteers", "The keepers", "Local farmers", "We")
_DID = ("counted the landings on", "noted the colour of", "photographed", "weighed", "marked")
_WHAT = (
    "each disc whose learned colour the foragers kept",
    "flowers whose colour honeybees return to",
    "the trained two hundred on their yellow feeder",
    "the hives that had a memory of weather and of reward",
    "whatever the models of foraging have left out",
)
_WHEN = (
    "while the wind came from the south of the valley", "before the dew on the grass had gone",
    "and compared it with what had been seen in the first season",
    "as the sun stood over the eastern slope", "until the last of the bees was back in her hive",
    "because rain had been forecast for the afternoon",
    "so that the differences between days could be told apart", "in all but three of the colonies",
    "with the same care as in the week before",
)  # fmt: skip


_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def _spelled(number: int) -> str:
    return " ".join(_DIGITS[int(digit)] for digit in str(number))


def sentences(count: int, start: int = 0) -> list[str]:
    """So many different sentences of about 20 words, on bees and colours; *start* skips some."""
    rows = (
        f"On day {_spelled(number)} {who[0].lower() + who[1:]} {did} {what} {when}."
        for number, who, did, what, when in zip(
            range(1, start + count + 1), cycle(_WHO), cycle(_DID), cycle(_WHAT), cycle(_WHEN),
            strict=False,
        )
    )  # fmt: skip
    return list(islice(rows, start, None))


def prose(words: int, start: int = 0) -> str:
    """At least so many words in one paragraph."""
    made: list[str] = []
    for sentence in sentences(words // 15 + 1, start):
        made.append(sentence)
        if sum(len(text.split()) for text in made) >= words:
            break
    return " ".join(made)


CITING = "Others did so before [1], and before them [2], and first of all [3]."
REFERENCES = """## References

1. Roe R. Colours. Hive. 2001;3:45-50.
2. Doe J. Weather and bees. Hive. 1998;1:1-9.
3. Poe E. Bees. Hive. 1989;2:3-12.
"""


def paper(words: int, start: int = 0) -> str:
    """So much prose that cites three works and lists them: a paper, not a text about one."""
    return f"{prose(words, start)} {CITING}\n\n{REFERENCES}"
