from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.processes import run
from utils.errors import Unreachable
from utils.http import Answer, redact_url

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("body", "charset", "text"),
    [
        ("Grüße".encode(), "", "Grüße"),
        ("Grüße".encode("latin-1"), "", "Grüße"),
        ("Grüße".encode("latin-1"), "iso-8859-1", "Grüße"),
        ("\ufeffGrüße".encode(), "utf-8", "Grüße"),
        ("Grüße".encode(), "no-such-charset", "Grüße"),
        ("Grüße".encode(), "idna", "Grüße"),
        ("Grüße".encode(), "zlib", "Grüße"),
        ("Grüße".encode(), "a\0b", "Grüße"),
    ],
)
def test_text_is_read_in_the_charset_it_has(body: bytes, charset: str, text: str) -> None:
    assert Answer(200, "https://a.org", body, charset=charset).text() == text


def test_json_with_a_raw_newline_inside_a_string_is_read() -> None:
    assert Answer(200, "https://a.org", b'{"ERROR": "a\nb"}').json() == {"ERROR": "a\nb"}


@pytest.mark.parametrize("body", [b"<html>busy</html>", b"", b"[" * 100_000])
def test_what_is_not_json_is_a_site_in_trouble(body: bytes) -> None:
    with pytest.raises(Unreachable, match=r"a\.org answered with something that is not JSON"):
        Answer(200, "https://a.org/x?y=1", body).json()


@pytest.mark.parametrize(
    "secret", ["api_key=s3", "API_KEY=s3", "key=s3", "token=s3", "email=s3", "access_token=s3"]
)
def test_an_address_is_shown_without_secrets(secret: str) -> None:
    shown = redact_url(f"https://me:s3@a.org/x?id=1&{secret}&db=pmc")
    assert shown == "https://a.org/x?id=1&db=pmc"


def test_a_query_without_secrets_stays_as_it_is() -> None:
    assert redact_url("https://a.org/x?a=%2f+b&c") == "https://a.org/x?a=%2f+b&c"


def test_importing_the_room_loads_no_http_library() -> None:
    code = (
        "import sys; from utils.http import Answer, Rate, Web;"
        "print({'requests', 'urllib3', 'backoff', 'diskcache'} & set(sys.modules))"
    )
    done = run([sys.executable, "-c", code], cwd=ROOT, check=True).stdout
    assert done.strip() == "set()"
