# ruff: noqa: E501 - markup is easier to compare with a page unbroken
"""Layouts kept for testing only: nobody looked at their results while the reader was mended."""

from __future__ import annotations

from quality.layouts import furniture as f
from quality.layouts.dress import Layout
from quality.layouts.manuscript import Reference


class TaylorFrancis(Layout):
    """A window with the whole reference at each citation; figures that repeat the article's head."""

    name = "taylor and francis"

    def abstract_box(self, inner: str, number: int) -> str:
        return (
            "<div class='hlFld-Abstract'><p class='fulltext'></p><div class='sectionInfo "
            "abstractSectionHeading'><h2 class='section-heading-2'>ABSTRACT</h2></div>"
            f"<div class='abstractSection abstractInFull'>{inner}</div></div>"
        )

    def section(self, title: str, depth: int, inner: str) -> str:
        return (
            f"<div class='NLM_sec NLM_sec_level_{depth}'><h{depth + 1} class='section-heading-"
            f"{depth + 1}'>{title}</h{depth + 1}>{inner}</div>"
        )

    def cite(self, shown: str, number: int) -> str:
        entries = self.paper.references
        told = entries[number - 1].text if 0 < number <= len(entries) else ""
        return (
            f"<span class='ref-lnk lazy-ref'><a data-rid='CIT{number}' href='#'>{shown}</a>"
            "<span class='ref-overlay scrollable-ref'><span class='ref-close'></span>"
            f"{told}<span class='ref-xlinks'><a href='/x'>[Crossref]</a>, <a href='/w'>[Web of "
            "Science ®]</a>, <a href='/g'>[Google Scholar]</a></span></span></span>"
        )

    def figure(self, label: str, caption: str) -> str:
        return (
            "<div class='figure figureViewer'><div class='hidden figureViewerArticleInfo'><span "
            f"class='figViewerTitle'>{self.paper.title}</span><div class='articleAuthors'>"
            f"{', '.join(self.paper.authors)}</div></div><div class='figureThumbnailContainer'>"
            "<div class='figureInfo'><div class='short-legend'><p class='captionText'><span class="
            f"'captionLabel'>{label}</span> {caption}</p></div></div><a class='thumbnail'><img "
            "src='x.gif'></a><div class='figureDownloadOptions'><a>Display full size</a></div>"
            "</div></div>"
        )

    def table(self, label: str, caption: str, rows: str, foot: str) -> str:
        return (
            "<div class='tableViewer'><div class='tableView'><div class='tableCaption'><div class="
            f"'short-legend'><h3><p><span>{label}</span> {caption}</p></h3></div></div><table>"
            f"{rows}</table><div class='tableFooter'>{foot}</div></div><div class='tableDownload"
            "Option'><a>Download CSV</a><a>Display Table</a></div></div>"
        )

    def reference(self, entry: Reference) -> str:
        return (
            f"<li id='CIT{entry.number}'><span>{entry.text} <span class='ref-links'><span class="
            "'xlinks-container'><a href='/x'>[Crossref]</a></span><span class='xlinks-container'>, "
            "<a href='/pm'>[PubMed]</a></span><span>, <a href='/w'>[Web of Science ®]</a></span>, "
            "<span class='googleScholar-container'><a href='/g'>[Google Scholar]</a></span></span>"
            "</span></li>"
        )

    def reference_list(self, entries: str) -> str:
        return (
            "<ul class='references numeric-ordered-list' id='references-Section'>"
            f"<h2>References</h2>{entries}</ul>"
        )

    def page(self) -> str:
        paper = self.paper
        names = "".join(
            f"<span class='contribDegrees'><a class='author'>{name}</a><span class='overlay'>"
            f"{(paper.affiliations or [''])[0]}<span class='corr-email'>Correspondence a@b.test"
            f"</span></span><div class='author-extra-info'>{f.biography(name)}</div></span>"
            for name in paper.authors
        )
        words = "".join(f"<a class='kwd-btn'>{word}</a>" for word in paper.keywords)
        return (
            f"<div class='cookiePolicy'>{f.cookies()}</div><header>{f.footer()}</header>"
            "<div class='tocHeading'><h2>Journal Volume 3, 2019 - Issue 2</h2></div>"
            f"<div class='itemPageStats'>{f.metrics()}</div><h1><span class='NLM_article-title "
            f"hlFld-title'>{paper.title}</span></h1><div class='hlFld-ContribAuthor'>{names}</div>"
            "<ul class='tab-nav'><li><a>Full Article</a></li><li><a>Figures &amp; data</a></li>"
            "<li><a>References</a></li><li><a>Citations</a></li><li><a>Metrics</a></li><li>"
            "<a>Licensing</a></li><li><a>Reprints &amp; Permissions</a></li></ul>"
            f"<article class='article'><div class='hlFld-Fulltext'>{self.abstract()}"
            f"<div class='hlFld-KeywordText'><p class='kwd-title'>KEYWORDS:</p>{words}</div>"
            f"{self.text()}</div></article><div class='crossSellContent'><h3>Related research</h3>"
            f"<h4>People also read</h4>{f.related(5, '<div>{}</div>')}<h4>Recommended articles</h4>"
            f"{f.related(5, '<div>{}</div>')}<h4>Cited by</h4></div><footer>{f.footer()}</footer>"
        )


class AtyponCore(Layout):
    """Paragraphs and lists by their role only; the abstract in its own part."""

    name = "sage"

    def paragraph(self, inner: str) -> str:
        return f"<div role='paragraph'>{inner}</div>"

    def abstract_box(self, inner: str, number: int) -> str:
        return (
            f"<section id='abstract{number or ''}' property='abstract' typeof='Text' role='doc-"
            f"abstract'><h2 property='name'>Abstract</h2>{inner}</section>"
        )

    def cite(self, shown: str, number: int) -> str:
        return f"<a href='#bibr{number}' role='doc-biblioref'>{shown}</a>"

    def figure(self, label: str, caption: str) -> str:
        return (
            "<div class='figure-wrap'><figure class='graphic'><img src='x.jpeg'><figcaption>"
            "<div class='caption'><span class='heading'><span class='label'>"
            f"{label}</span></span> {caption}</div></figcaption></figure></div>"
        )

    def table(self, label: str, caption: str, rows: str, foot: str) -> str:
        return (
            "<div class='figure-wrap'><figure class='table'><figcaption><div class='caption'><span "
            f"class='heading'><span class='label'>{label}</span></span> {caption}</div>"
            "<div class='core-table-export'><a>Open in Viewer</a></div></figcaption>"
            f"<div class='table-wrap'><table>{rows}</table></div><div class='notes'>{foot}</div>"
            "</figure></div>"
        )

    def reference(self, entry: Reference) -> str:
        return (
            f"<div role='listitem' data-has='label'><div class='label'>{entry.number}.</div><div "
            "class='citations'><div class='citation'><div class='citation-content'>"
            f"{entry.text}</div><div class='external-links'><div class='core-xlink-crossref'>"
            "<a href='/x'>Crossref</a></div><div class='core-xlink-pubmed'><a href='/p'>PubMed</a>"
            "</div><div class='core-xlink-isi'><a href='/i'>Web of Science</a></div><div class="
            "'core-xlink-google-scholar'><a href='/g'>Google Scholar</a></div></div></div></div>"
            "</div>"
        )

    def reference_list(self, entries: str) -> str:
        return (
            "<section id='bibliography' role='doc-bibliography'><h2>References</h2>"
            f"<div role='list'>{entries}</div></section>"
        )

    def page(self) -> str:
        paper = self.paper
        names = "".join(
            f"<span property='author' typeof='Person'>{name}</span>, " for name in paper.authors
        )
        people = "".join(
            f"<div property='author'><div class='heading'>{name}</div><div class='affiliations'>"
            f"{(paper.affiliations or [''])[0]}</div><div>View all articles by this author</div>"
            "</div>"
            for name in paper.authors
        )
        return (
            f"<header class='header'>{f.footer()}</header><main class='content'><article>"
            f"<header data-extent='frontmatter'><h1 property='name'>{paper.title}</h1>"
            f"<div class='contributors'>{names}</div><div class='info-panel'>{f.metrics()}"
            f"<a>Contents</a><a>Get access</a><a>Cite article</a></div><nav>{f.share()}</nav>"
            f"</header><div data-extent='frontmatter'>{self.abstract()}</div><section id="
            "'bodymatter' data-extent='bodymatter' property='articleBody'><div class='core-"
            f"container'>{self._written(self.paper.body, 1)}</div></section><div data-extent="
            f"'backmatter'>{self._written(self.paper.back, 1)}{self.bibliography()}</div>"
            "<div class='core-collateral'><section class='core-authors'><h2>Authors</h2>"
            f"{people}</section><section class='core-collateral-metrics'><h2>Metrics and citations"
            f"</h2><h3>Journals metrics</h3>{f.metrics()}<p>Article usage tracking started in "
            "December 2016. Publications citing this one receive altogether 12 citations.</p>"
            f"</section></div></article><section class='related'><h2>Similar articles:</h2><ul>"
            f"{f.related(6)}</ul></section></main><footer>{f.footer()}</footer>"
        )


class Archive(Layout):
    """A repository's reader: captions under headings, identifiers in brackets."""

    name = "pmc"

    def abstract_box(self, inner: str, number: int) -> str:
        return f"<section class='abstract' id='abs{number}'><h2 data-anchor-id='a'>Abstract</h2>{inner}</section>"

    def section(self, title: str, depth: int, inner: str) -> str:
        return f"<section id='S{depth}'><h{depth + 1} class='pmc_sec_title'>{title}</h{depth + 1}>{inner}</section>"

    def figure(self, label: str, caption: str) -> str:
        return (
            f"<figure class='fig xbox font-sm'><h4 class='obj_head'>{label}</h4><p class='img-box'>"
            "<a class='tileshop'><img src='x.jpg'></a></p><div class='p text-right font-secondary'>"
            "<a class='usa-link' href='figure/'>Open in a new tab</a></div><figcaption><p>"
            f"{caption}</p></figcaption></figure>"
        )

    def table(self, label: str, caption: str, rows: str, foot: str) -> str:
        return (
            f"<section class='tw xbox font-sm'><h4 class='obj_head'>{label}</h4><div class='caption"
            f" p'><p>{caption}</p></div><div class='tbl-box p' tabindex='0'><table class='content'>"
            f"{rows}</table></div><div class='p text-right'><a href='table/'>Open in a new tab</a>"
            f"</div><div class='tw-foot p'>{foot}</div></section>"
        )

    def reference(self, entry: Reference) -> str:
        return (
            f"<li id='R{entry.number}'><span class='label'>{entry.number}.</span><cite>{entry.text}"
            "</cite> [<a href='https://doi.org/x'>DOI</a>] [<a href='/pmc'>PMC free article</a>] "
            "[<a href='/pm'>PubMed</a>] [<a href='https://scholar.google.com/x'>Google Scholar</a>]"
            "</li>"
        )

    def reference_list(self, entries: str) -> str:
        return (
            "<section class='ref-list'><h2 class='pmc_sec_title'>References</h2><section><ul class="
            f"'ref-list font-sm' style='list-style-type:none'>{entries}</ul></section></section>"
        )

    def page(self) -> str:
        paper = self.paper
        addresses = "".join(f"<div><sup>1</sup>{place}</div>" for place in paper.affiliations)
        return (
            "<section class='usa-banner'><p>An official website of the government</p><p>Official "
            "websites use .gov. A .gov website belongs to an official government organization."
            f"</p></section><header>{f.footer()}</header><main><article><section class='pmc-layout__"
            "disclaimer'>As a library, we provide access to scientific literature. Inclusion in a "
            "database does not imply endorsement of, or agreement with, the contents.</section>"
            "<section class='front-matter'><div class='ameta p font-secondary font-xs'><hgroup>"
            f"<h1>{paper.title}</h1></hgroup><div class='cg p'>{', '.join(paper.authors)}</div>"
            f"<ul class='d-buttons inline-list'><li><a>Author information</a></li><li><a>Article "
            "notes</a></li><li><a>Copyright and License information</a></li></ul><div class='d-"
            f"panel p' style='display: none'><div class='notes p'>{addresses}</div></div></div>"
            f"</section><section class='body main-article-body'>{self.abstract()}"
            f"<section class='kwd-group'><p><strong>Keywords:</strong> {', '.join(paper.keywords)}"
            f"</p></section>{self.text()}<section class='associated-data'><h2>Associated Data</h2>"
            "<p>This section collects any data citations, data availability statements, or "
            "supplementary materials included in this article.</p></section></section></article>"
            "</main><aside class='pmc-sidenav'><h2>ACTIONS</h2><ul><li><a>View on publisher site"
            "</a></li><li><a>PDF (1.2 MB)</a></li><li><a>Cite</a></li></ul><h2>RESOURCES</h2>"
            f"<h3>Similar articles</h3><ul>{f.related(5)}</ul><h3>Cited by other articles</h3>"
            f"<h3>Links to NCBI Databases</h3></aside><footer>{f.footer()}</footer>"
        )


class Lens(Layout):
    """Sections with headers and bodies, assets with viewers, reviews and metrics at the end."""

    name = "elife"

    def section(self, title: str, depth: int, inner: str) -> str:
        return (
            f"<section class='article-section' data-behaviour='ArticleSection'><header class="
            f"'article-section__header'><h{depth + 1} class='article-section__header_text'>{title}"
            f"</h{depth + 1}></header><div class='article-section__body'>{inner}</div></section>"
        )

    def abstract_box(self, inner: str, number: int) -> str:
        return self.section("eLife digest" if number else "Abstract", 1, inner)

    def paragraph(self, inner: str) -> str:
        return f"<p class='paragraph'>{inner}</p>"

    def figure(self, label: str, caption: str) -> str:
        return (
            "<div class='asset-viewer-inline'><div class='asset-viewer-inline__header_panel'><div "
            f"class='asset-viewer-inline__header_text'><span class='asset-viewer-inline__header_"
            f"text__prominent'>{label}</span></div><div class='asset-viewer-inline__figure_access'>"
            "<a>Download asset</a> <a>Open asset</a></div></div><figure class='captioned-asset'>"
            f"<img src='x.jpg'><figcaption class='captioned-asset__caption'>{caption}</figcaption>"
            "</figure></div>"
        )

    def reference(self, entry: Reference) -> str:
        return (
            "<li class='reference-list__item'><span class='reference-list__ordinal_number'>"
            f"{entry.number}</span><div class='reference'><ol class='reference__authors_list'>"
            f"</ol><div class='reference__title'>{entry.text}</div><a class='reference__doi' "
            f"href='https://doi.org/{entry.doi}'>https://doi.org/{entry.doi}</a><ul class='reference"
            "__abstracts'><li class='reference__abstract'><a href='/p'>PubMed</a></li><li><a href="
            "'https://scholar.google.com/x'>Google Scholar</a></li></ul></div></li>"
        )

    def reference_list(self, entries: str) -> str:
        return self.section("References", 1, f"<ol class='reference-list'>{entries}</ol>")

    def page(self) -> str:
        paper = self.paper
        reports = self.section(
            "Decision letter", 1, f"<p>Reviewing editor: Ada Holm</p>{f.report(1)}"
        ) + self.section("Author response", 1, f.report(2))
        return (
            f"<header class='site-header'>{f.footer()}</header><main><header class='content-header'>"
            f"<h1 class='content-header__title'>{paper.title}</h1><ol class='author_list'>"
            f"{''.join(f'<li>{name}</li>' for name in paper.authors)}</ol><ol>"
            f"{''.join(f'<li>{place}</li>' for place in paper.affiliations)}</ol></header>"
            f"<div class='contextual-data'>{f.metrics()}<a>Cite this article</a></div><nav class="
            "'view-selector'><ul><li><a>Article</a></li><li><a>Figures and data</a></li></ul></nav>"
            f"<div class='main-content-grid'>{self.abstract()}{self.text()}{reports}"
            + self.section(
                "Article and author information",
                1,
                "<h3>Author details</h3><ol class='grid'>"
                + "".join(f"<li><h4>{name}</h4></li>" for name in paper.authors)
                + "</ol>",
            )
            + self.section(
                "Metrics",
                1,
                f"<ul>{f.metrics()}</ul><p>Views, downloads and citations "
                "are aggregated across all versions of this paper.</p>",
            )
            + "</div><section class='article-section'><h2>Categories and tags</h2><ul><li><a>"
            "Ecology</a></li></ul></section></main><section class='listing-read-more'><h3>Further "
            f"reading</h3>{f.related(4, '<div>{}</div>', teasers=True)}</section><footer>"
            f"{f.footer()}</footer>"
        )


class Journal2(Layout):
    """Headings without nesting, an abstract with small headings, a citation box at the end."""

    name = "jmir"

    def section(self, title: str, depth: int, inner: str) -> str:
        return (
            f"<h{depth + 2} class='navigation-heading h{depth}-small'>{title}</h{depth + 2}>{inner}"
        )

    def paragraph(self, inner: str) -> str:
        return f"<p class='abstract-paragraph'>{inner}</p>"

    def abstract_box(self, inner: str, number: int) -> str:
        return f"<h3 class='navigation-heading h3-main-heading'>Abstract</h3><section class='abstract'>{inner}</section>"

    def cite(self, shown: str, number: int) -> str:
        return f"<span class='footers'><a class='footnote-link' id='ref{number}' title='see'>{shown}</a></span>"

    def figure(self, label: str, caption: str) -> str:
        return (
            "<figure><a class='fancybox' href='x.png'><img class='figure-image' src='x.png'></a>"
            f"<figcaption><span class='typcn typcn-image'></span>{label}. {caption} <a class='fig-"
            "view'>View this figure</a></figcaption></figure>"
        )

    def table(self, label: str, caption: str, rows: str, foot: str) -> str:
        return (
            f"<div class='figure-table'><figcaption><span>{label}. {caption}</span></figcaption>"
            f"<table>{rows}</table>{foot}</div>"
        )

    def reference(self, entry: Reference) -> str:
        return (
            f"<li><span id='ref{entry.number}'>{entry.text} [<a href='https://dx.doi.org/x'>CrossRef"
            "</a>] [<a href='/m'>Medline</a>]</span></li>"
        )

    def reference_list(self, entries: str) -> str:
        return (
            "<hr><div class='footnotes'><h4 class='h4-border-top navigation-heading'>References"
            f"</h4><ol>{entries}</ol></div>"
        )

    def page(self) -> str:
        paper = self.paper
        people = "".join(
            f"<li><a class='btn-view-author-options'>{name}<sup>1</sup></a><div class='author-options"
            "'><a>Articles by this author</a> <a>ORCID</a></div></li>"
            for name in paper.authors
        )
        said = f"{', '.join(paper.authors[:6])}. {paper.title}. J Med 2019;7(6):e142"
        return (
            f"<div id='skip'><a>Skip to Main Content</a></div><header>{f.footer()}</header>"
            "<main class='article'><section class='published-date'>Published on 25.Jun.2019 in Vol "
            f"7, No 6</section><h1 class='h3'>{paper.title}</h1><h3>Authors of this article:</h3>"
            f"<ul class='clearfix'>{people}</ul><div class='article-tabs'><a>Article</a><a>Authors"
            "</a><a>Cited by (91)</a><a>Tweetations (12)</a><a>Metrics</a></div><aside><div class="
            "'article-categories'><h3>Article Categories</h3><a>Mindfulness (200)</a></div></aside>"
            "<section class='article-content'><article><div class='main-article-content'>"
            f"<h4 class='h4-original-paper'><span>Original Paper</span></h4><div class='authors-for-"
            f"screen-reader'><strong>Authors of this article:</strong> {', '.join(paper.authors)}"
            f"</div><div class='author-affiliation-details'>{'<br>'.join(paper.affiliations)}</div>"
            f"<div class='corresponding-author'><h3>Corresponding Author:</h3><p>Somebody, PhD</p>"
            f"</div>{self.abstract()}<p>{said}</p><h4 class='h4-article-volume-issue'>doi:10.2196/1"
            f"</h4><h3 class='keywords'>Keywords</h3><div class='keywords'>"
            f"{' ; '.join(paper.keywords)} </div><div id='trendmd-suggestions'></div>"
            f"{self.text()}<p class='article-copyright'>© The authors.</p></div></article></section>"
            f"<section class='sidebar'><h3>Citation</h3><p>Please cite as:</p><p>{said}</p><ul>"
            f"{f.share()}</ul></section></main><footer>{f.footer()}</footer>"
        )


class Platform(Layout):
    """Titles in boxes instead of headings, below a list of the issue's papers."""

    name = "j-stage"

    def section(self, title: str, depth: int, inner: str) -> str:
        level = min(depth + 3, 6)
        return f"<div class='section-level{depth}'><h{level} class='section-title'>{title}</h{level}>{inner}</div>"

    def abstract_box(self, inner: str, number: int) -> str:
        return (
            "<div id='article-overiew-abstract-wrap'><div class='section-title'><h3>Abstract</h3>"
            f"</div><div class='global-para'>{inner}</div></div>"
        )

    def figure(self, label: str, caption: str) -> str:
        return (
            "<div class='fig-wrap'><div class='fig-img'><a href='/f'><img src='x.gif'></a></div>"
            f"<div class='fig-caption'><b>{label}</b> {caption} <a href='/f'>View PowerPoint slide"
            "</a></div></div>"
        )

    def table(self, label: str, caption: str, rows: str, foot: str) -> str:
        return (
            f"<div class='table-wrap'><div class='caption'><b>{label}</b> {caption}</div><table>"
            f"{rows}</table><div class='foot'>{foot}</div></div>"
        )

    def reference(self, entry: Reference) -> str:
        return (
            f"<li><span>{entry.number}) {entry.text}</span><span class='refxlinks'><a href='/x'>"
            "CrossRef</a>, <a href='/m'>PubMed</a>, <a href='/g'>Google Scholar</a></span></li>"
        )

    def reference_list(self, entries: str) -> str:
        return (
            "<div id='article-overiew-references-wrap'><div class='section-title'><h4>References"
            f"</h4></div><ul class='mod-list-citation'>{entries}</ul></div>"
        )

    def page(self) -> str:
        paper = self.paper
        return (
            f"<div class='header-wrap'>{f.footer()}</div><div class='journal-header'>"
            f"{paper.journal}<br>Online ISSN : 1234-5678</div><div id='search-resultslist-wrap'>"
            f"<div class='global-article-title'>{paper.title}</div><div class='global-authors-name-"
            f"tags'>{''.join(f'<a>{name}</a>' for name in paper.authors)}</div><div class='accordion"
            f"_container'><a>Author information</a><ul>{''.join(f'<li>{place}</li>' for place in paper.affiliations)}"
            "</ul></div><div>Keywords: "
            f"{', '.join(paper.keywords)}</div><div class='article-nav'><span>FREE ACCESS</span> "
            "<a>FULL-TEXT HTML</a> <a>Download PDF (980K)</a> <a>Download citation RIS</a></div>"
            f"</div><div class='content-outer-style'><div id='page-content'>{self.abstract()}"
            f"<div id='fulltext'>{self.text()}</div></div><div class='right-contents'><h4>Related "
            f"information</h4><ul>{f.related(4)}</ul><h4>Recently visited articles</h4>"
            f"<ul>{f.related(4)}</ul><div class='share'>{f.share()}</div></div></div>"
            f"<div class='footer'>{f.footer()}</div>"
        )


class Flat(Layout):
    """Headings and paragraphs beside each other; links of a reference in a paragraph of their own."""

    name = "frontiers"

    def section(self, title: str, depth: int, inner: str) -> str:
        return f"<h{depth + 1}>{title}</h{depth + 1}>{inner}"

    def paragraph(self, inner: str) -> str:
        return f"<p class='mb15'>{inner}</p>"

    def abstract_box(self, inner: str, number: int) -> str:
        return f"<div class='JournalAbstract{number or ''}'>{inner}</div>"

    def figure(self, label: str, caption: str) -> str:
        return (
            "<div class='DottedLine'></div><div class='Imageheaders'>"
            f"{label.upper()}</div><div class='FigureDesc'><a href='/f.jpg'><img src='x.jpg'></a>"
            f"<p><strong>{label}</strong>. {caption}</p></div>"
        )

    def table(self, label: str, caption: str, rows: str, foot: str) -> str:
        return (
            f"<div class='Imageheaders'>{label.upper()}</div><div class='FigureDesc'><p><strong>"
            f"{label}</strong>. {caption}</p><table>{rows}</table>{foot}</div>"
        )

    def reference(self, entry: Reference) -> str:
        return (
            f"<div class='References'><p class='ReferencesCopy1'><a name='B{entry.number}'></a>"
            f"{entry.text}</p><p class='ReferencesCopy2'><a href='/pm'>PubMed Abstract</a> | <a "
            "href='/x'>CrossRef Full Text</a> | <a href='https://scholar.google.com/x'>Google "
            "Scholar</a></p></div>"
        )

    def reference_list(self, entries: str) -> str:
        return f"<h2>References</h2>{entries}"

    def page(self) -> str:
        paper = self.paper
        toc = "".join(
            f"<li><a href='#h'>{self.prose(el.find('title'))}</a></li>"
            for el in paper.tree.iterfind("body/sec")
        )
        return (
            f"<header>{f.footer()}</header><div class='article-section'><aside class='left-column'>"
            f"<div class='metrics'>{f.metrics()}<a>View Article Impact</a></div><ul>{f.share()}"
            "</ul></aside><main class='main-column'><div class='article-container'>"
            "<div class='article-header-container'>ORIGINAL RESEARCH article<br>Front. Test., 25 "
            f"July 2019</div><div class='JournalAbstract'><h1>{paper.title}</h1><div class='authors'>"
            f"{', '.join(paper.authors)}</div><ul class='notes'>"
            f"{''.join(f'<li>{place}</li>' for place in paper.affiliations)}</ul>{self.abstract()}"
            f"</div><div class='JournalFullText'>{self.text()}<p><strong>Citation:</strong> Someone "
            "(2019) A title. Front. Test. 10:100.</p><p><strong>Edited by:</strong> Ada Holm, "
            "University of the North</p><p><strong>*Correspondence:</strong> Somebody</p></div></div>"
            f"</main><aside class='right-column'><h4>TABLE OF CONTENTS</h4><ul>{toc}</ul><h4>People "
            f"also looked at</h4>{f.related(4, '<div>{}</div>')}</aside></div>"
            f"<footer>{f.footer()}</footer>"
        )


class Hashed(Layout):
    """Class names that say nothing, boxes for everything, nothing in the head."""

    name = "nameless"
    in_head = False

    def section(self, title: str, depth: int, inner: str) -> str:
        return f"<div class='css-1a{depth}'><h{depth + 1} class='css-9z'>{title}</h{depth + 1}><div>{inner}</div></div>"

    def abstract_box(self, inner: str, number: int) -> str:
        return f"<div class='css-77'><h2 class='css-9z'>Abstract</h2>{inner}</div>"

    def figure(self, label: str, caption: str) -> str:
        return (
            "<div class='css-f1'><img src='x.webp'><div class='css-f2'>"
            f"<p>{label} {caption}</p><div class='css-f3'><a href='/x'>View large</a>"
            "<a href='/y'>Download slide</a></div></div></div>"
        )

    def reference(self, entry: Reference) -> str:
        return (
            f"<div class='css-r1'><span>{entry.number}</span><div><p>{entry.text}</p><div><a href="
            "'/x'>Crossref</a><a href='/p'>PubMed</a><a href='/g'>Google Scholar</a></div></div>"
            "</div>"
        )

    def reference_list(self, entries: str) -> str:
        return f"<div class='css-1a1'><h2 class='css-9z'>References</h2><div>{entries}</div></div>"

    def page(self) -> str:
        paper = self.paper
        return (
            f"<div class='css-h'>{f.footer()}</div><div class='css-m'><div class='css-l'><h1>"
            f"{paper.title}</h1><div>{', '.join(paper.authors)}</div>"
            f"<div>{'; '.join(paper.affiliations)}</div><div>{f.metrics()}</div>{self.abstract()}"
            f"{self.text()}</div><div class='css-r'><h3>You may also like</h3>"
            f"{f.related(8, '<div>{}</div>')}<h3>Stay up to date</h3>{f.alerts()}</div></div>"
            f"<div class='css-c'>{f.cookies()}</div><div class='css-b'>{f.footer()}</div>"
        )


LAYOUTS = (
    TaylorFrancis, AtyponCore, Archive, Lens, Journal2, Platform, Flat, Hashed,
)  # fmt: skip
