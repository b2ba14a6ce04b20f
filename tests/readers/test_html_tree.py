"""The tree of a page answers searches as BeautifulSoup does."""

import re
from typing import Any

import pytest
from bs4 import BeautifulSoup

from utils.readers.html.tree import ShallowSoup, find_named_elements, list_elements

PAGE = (
    "<html><head><meta name='a' content='b'><script src='x.js'></script><script>1</script></head>"
    "<body class='one two'><h1 id='t'>Bees <em>fly</em></h1><p>Text <a href='#t'>up"
    "</a></p><div class='two'><ul><li>A</li><li><p>B</p></li></ul><svg:rect></svg:rect></div>"
)


@pytest.mark.parametrize(
    ("names", "options"),
    [
        ("li", {}),
        (["h1", "a", "li"], {}),
        (True, {}),
        (True, {"recursive": False}),
        ("nothing", {}),
        (["li", "p"], {"limit": 2}),
        ("script", {"src": False}),
        ("a", {"href": True}),
        (None, {"class_": "two"}),
        (["h1", "div"], {"id": re.compile("^t")}),
        ("meta", {"attrs": {"name": "a"}}),
        (None, {"string": True}),
        (None, {"string": "Text "}),
        (re.compile("^h"), {}),
        ("svg:rect", {}),
    ],
)
def test_searches_find_what_beautifulsoup_finds(names: Any, options: dict[str, Any]) -> None:
    quick, plain = ShallowSoup(PAGE), BeautifulSoup(PAGE, "lxml")
    assert list(map(str, quick.find_all(names, **options))) == list(
        map(str, plain.find_all(names, **options))
    )
    without_limit = {name: value for name, value in options.items() if name != "limit"}
    assert str(quick.find(names, **without_limit)) == str(plain.find(names, **without_limit))
    quick.discard_element_list()
    assert list(map(str, quick.find_all(names, **options))) == list(
        map(str, plain.find_all(names, **options))
    )


def test_a_changed_page_is_searched_as_it_is_now() -> None:
    soup = ShallowSoup(PAGE)
    soup.discard_element_list()
    soup.find("ul").extract()
    assert soup.find_all("li") == []
    assert [tag.name for tag in find_named_elements(soup, ("h1", "li"))] == ["h1"]
    assert soup.find("em").find_parent(["body", "h1"]).name == "h1"
    assert soup.find("em").find_parent(class_="one").name == "body"
    assert len(list_elements(soup)) == len(soup.find_all(True))


def test_comments_are_no_part_of_a_page() -> None:
    soup = ShallowSoup("<!doctype html><p>Bees <!-- hidden -->fly</p><?target data?>")
    assert [str(text) for text in soup.find_all(string=True)] == ["Bees fly"]


def test_scripts_are_text_of_no_other_element() -> None:
    soup = ShallowSoup("<div>a<script>b</script><pre> \n </pre> \n<br>c</div>")
    assert soup.get_text() == "a \n \nc"
    assert soup.find("script").get_text() == "b"
    assert str(soup.find("br")) == "<br/>"
