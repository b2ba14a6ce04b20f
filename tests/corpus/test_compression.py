"""Texts come back as they were, and texts that older versions stored are read."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.corpus.compression import compress_text, decompress_text


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_text_comes_back(text: str) -> None:
    assert decompress_text(compress_text(text)) == text


def test_a_long_text_comes_back() -> None:
    text = "".join(map(chr, range(0x20, 0xD000))) * 3
    assert decompress_text(compress_text(text)) == text


@pytest.mark.parametrize("text", ["", "Eels swim.", "été " * 1000])
def test_a_text_of_an_older_version_is_read(text: str) -> None:
    assert decompress_text(zlib.compress(text.encode(), 1)) == text


def test_what_was_stored_with_this_version_is_read_for_ever() -> None:
    stored = bytes.fromhex("0183a7176874a3c4af6b6a4e31bc4e52aa0500")
    assert decompress_text(stored) == '{"ids":{"pmid":"7"},"title":"Eels in vitro"}'
