"""The licence of an article is read from a sentence about the article, and from nothing else."""

import pytest
from bs4 import BeautifulSoup

from utils.readers.html.licenses import find_stated_license

BY, NC = (f"https://creativecommons.org/licenses/{name}/4.0/" for name in ("by", "by-nc"))
ARTICLE = "<p>This is an open access article distributed under the terms of the {}</p>"


def read(html):
    return find_stated_license(BeautifulSoup(f"<html><body>{html}</body></html>", "lxml"))


def link(url, text="Creative Commons License"):
    return f'<a href="{url}">{text}</a>'


@pytest.mark.parametrize(
    "html",
    [
        ARTICLE.format(link(BY)),
        f"<div><p>This publication is licensed under</p><div>{link(BY, 'CC-BY 4.0')}</div></div>",
        f"<p><b>Open Access</b>This article is distributed under the terms of {link(BY)}</p>",
        f"<div>All article content, except where noted, is licensed under a {link(BY)}</div>",
        f"<div>Published by the Royal Society under the terms of the {link(BY)}</div>",
        ARTICLE.format(link(BY)) * 2 + f"<p>Code under {link(NC)}.</p>",
    ],
)
def test_a_sentence_about_the_article_states_its_licence(html):
    assert read(html) == BY


@pytest.mark.parametrize(
    "html",
    [
        "",
        f"<p>The data are available under {link(BY)}.</p>",
        f"<figure>{ARTICLE.format(link(BY))}</figure>",
        f"<footer>{ARTICLE.format(link(BY))}</footer>",
        f'<div class="references">{ARTICLE.format(link(BY))}</div>',
        ARTICLE.format(link(BY)) + ARTICLE.format(link(NC)),
        ARTICLE.format(link("https://example.org/licence")),
        f"<div>{'Moss grows on stones. ' * 200}{ARTICLE.format('journal.')}{link(BY)}</div>",
        '<div class="footer"><p class="copyright">© Moss Press. All rights reserved.</p></div>',
        "<p>The king had all rights reserved.</p>",
    ],
)
def test_a_licence_of_something_else_is_not_the_articles(html):
    assert read(html) == ""


@pytest.mark.parametrize(
    "line",
    [
        "© 2020 The Authors. All rights reserved.",
        "All rights, including for text and data mining, are reserved.",
        "© 2022 the authors, some rights reserved; exclusive licensee Moss Society.",
    ],
)
def test_a_line_of_copyright_may_reserve_all_rights(line):
    html = f'<div class="copyright-statement">{line}</div>'
    assert read(html) == line
    assert read(html + ARTICLE.format(link(BY))) == BY
