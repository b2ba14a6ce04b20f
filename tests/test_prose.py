"""Names, docstrings, comments and messages follow the house style, package by package."""

import pytest

from quality.messages import find_messages
from quality.prose import CEILINGS, ROOT, check_tree, count_by_package, find_places

CLEAN = '''
def count_words(text):
    """Return the number of words."""
    return len(text.split())
'''


def test_no_package_has_more_places_than_its_ceiling():
    places = check_tree(ROOT / "utils")
    too_many = {
        package: f"{count} places, at most {CEILINGS.get(package, 0)} are accepted"
        for package, count in count_by_package(places).items()
        if count > CEILINGS.get(package, 0)
    }
    assert not too_many, "run: python -m quality.prose utils/PACKAGE"


def test_every_ceiling_belongs_to_a_package():
    assert [name for name in CEILINGS if not (ROOT / "utils" / name).exists()] == []


def test_plain_code_has_no_places():
    assert find_places(CLEAN, "utils/page.py") == []


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ('def found():\n    """Return it."""\n', "the name is not a verb"),
        ("def fetch():\n    pass\n", "one word, and no docstring"),
        ('def a_b():\n    """Whether it ends."""\n', "the docstring starts with 'Whether'"),
        ('def a_b():\n    """Return what nobody has."""\n', "the docstring has 'nobody'"),
        ('def a_b():\n    """Return a row"""\n', "does not end with a full stop"),
        ('def a_b():\n    """Return\n    a row."""\n', "has more than one line"),
        ("# whoever reads this\n", "a comment has 'whoever'"),
        ('msg = f"The text {a} is no DOI."\n', "a message has 'is no'"),
    ],
)
def test_a_place_is_found_with_its_line(source, reason):
    [place] = find_places(source, "utils/page.py")
    assert place.reason.endswith(reason)
    assert str(place).startswith("utils/page.py:1 ")


def test_the_list_of_messages_has_errors_help_and_warnings():
    source = """
msg = f"{doi} is not a valid DOI."
raise BadRequest("The list is empty.", "Name a paper." if one else "Name two papers.")
parser.add_argument("--limit", help="maximum number of papers")
log.warning("Indexing stopped: %s", error)
warnings.append("Some rows were skipped.")
"""
    texts = [(one.kind, one.text) for one in find_messages(source, "utils/page.py")]
    assert texts == [
        ("message", "{…} is not a valid DOI."),
        ("BadRequest", "The list is empty."),
        ("BadRequest", "Name a paper."),
        ("BadRequest", "Name two papers."),
        ("help", "maximum number of papers"),
        ("log", "Indexing stopped: %s"),
        ("note", "Some rows were skipped."),
    ]
