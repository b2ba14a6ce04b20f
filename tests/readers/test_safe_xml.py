"""Steps down a tree: every child once, in order, with what stands behind it."""

from lxml import etree

from utils.readers.safe_xml import get_first_child, list_children


def test_children_come_in_order_with_their_tails() -> None:
    element = etree.fromstring("<p>a<b>1</b>x<i><u/></i><b>2</b>y</p>")
    found = [(child.tag, child.text, child.tail) for child in list_children(element)]
    assert found == [("b", "1", "x"), ("i", None, None), ("b", "2", "y")]


def test_a_leaf_has_no_children() -> None:
    assert list_children(etree.fromstring("<p>text</p>")) == []


def test_an_entity_nobody_declared_is_a_child_too() -> None:
    parser = etree.XMLParser(resolve_entities=False, load_dtd=False)
    body = b'<!DOCTYPE p [<!ENTITY e "x">]><p>a&e;b<i/></p>'
    children = list_children(etree.fromstring(body, parser))
    assert [child.tag if isinstance(child.tag, str) else child.text for child in children] == [
        "&e;",
        "i",
    ]


def test_the_first_child_of_a_tag_is_found_and_no_deeper_one() -> None:
    element = etree.fromstring("<s><p><title>deep</title></p><title>1</title><title>2</title></s>")
    found = get_first_child(element, "title")
    assert found is not None
    assert found.text == "1"
    assert get_first_child(element, "label") is None
