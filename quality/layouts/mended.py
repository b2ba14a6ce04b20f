# ruff: noqa: E501 - markup is easier to compare with a page unbroken
"""Layouts that were looked at while the reader was mended."""

from __future__ import annotations

from quality.layouts import furniture as f
from quality.layouts.dress import Layout
from quality.layouts.manuscript import Reference


class Wiley(Layout):
    """Sections in sections, captions above a row of tools, buttons behind each reference."""

    name = "wiley"

    def abstract_box(self, inner: str, number: int) -> str:
        heading = "Abstract" if not number else "Summary"
        return (
            "<section class='article-section article-section__abstract' data-lang='en'>"
            f"<h2 class='article-section__header section__title main'>{heading}</h2>"
            f"<div class='article-section__content en main'>{inner}</div></section>"
        )

    def section(self, title: str, depth: int, inner: str) -> str:
        return (
            f"<section class='article-section__{'content' if depth == 1 else 'sub-content'}'>"
            f"<h{depth + 1} class='article-section__title section__title section{depth}'>{title}"
            f"</h{depth + 1}>{inner}</section>"
        )

    def cite(self, shown: str, number: int) -> str:
        return f"<span><a href='#bib{number}' class='bibLink tab-link'>{shown}</a></span>"

    def figure(self, label: str, caption: str) -> str:
        return (
            "<section class='article-section__inline-figure'><figure class='figure'>"
            "<a target='_blank' href='/cms/asset/x.jpg'><img class='figure__image' src='x.jpg'></a>"
            "<figcaption class='figure__caption'><div class='figure__caption__header'>"
            f"<strong class='figure__title'>{label}</strong><div class='figure-extra'>"
            "<a href='#' class='open-figure-link'>Open in figure viewer</a>"
            "<a href='/ppt' class='ppt-figure-link'>PowerPoint</a></div></div>"
            f"<div class='figure__caption-text'>{caption}</div></figcaption></figure></section>"
        )

    def table(self, label: str, caption: str, rows: str, foot: str) -> str:
        return (
            "<div class='article-table-content'><header class='article-table-caption'>"
            f"<span class='table-caption__label'>{label}</span> {caption}</header>"
            f"<div class='article-table-content-wrapper'><table class='table'>{rows}</table></div>"
            f"<div class='article-section__table-footnotes'>{foot}</div></div>"
        )

    def reference(self, entry: Reference) -> str:
        return (
            f"<li data-bib-id='b{entry.number}'><span class='bullet'>{entry.number}</span>"
            f"{entry.text}<div class='extra-links getFTR'><span class='hidden data-doi'>{entry.doi}"
            "</span><a href='https://doi.org/x'>CrossRef</a>, <a href='/cas'>CAS</a>, "
            "<a href='/pm'>PubMed</a>, <a href='/isi'>Web of Science®</a>"
            "<a class='google-scholar' href='https://scholar.google.com/x'>Google Scholar</a>"
            "</div></li>"
        )

    def reference_list(self, entries: str) -> str:
        return (
            "<section class='article-section article-section__references'><div class='accordion'>"
            "<h2 class='article-accordion__title section__title'>"
            "<div class='accordion__control'>REFERENCES</div></h2><div class='accordion__content'>"
            f"<ul class='rlist separator'>{entries}</ul></div></div></section>"
        )

    def page(self) -> str:
        paper = self.paper
        names = "".join(
            f"<div class='author-info accordion-tabbed__content'><p>{name}</p><p>"
            f"{(paper.affiliations or [''])[0]}</p><p>Search for more papers by this author</p>"
            "</div>"
            for name in paper.authors
        )
        keywords = "".join(f"<li><a href='/k'>{word}</a></li>" for word in paper.keywords)
        return (
            f"<div class='cookie-banner'>{f.cookies()}</div><header><nav><ul>{f.share()}</ul></nav>"
            "</header><main id='main-content'><article><div class='article-citation'>"
            f"<h1 class='citation__title'>{paper.title}</h1><div class='loa-authors'>{names}</div>"
            "<div class='epub-section'>First published: 02 March 2021</div><div class='citations-"
            "count'>Citations: <a href='#'>12</a></div></div><div class='coolBar'>"
            "<ul><li><a href='#'>Tools</a></li><li><a>Request permission</a></li></ul>"
            f"<ul>{f.share()}</ul></div><div class='abstract-group'>{self.abstract()}</div>"
            "<section class='article-section article-section__keywords'>"
            f"<h2>Keywords</h2><ul class='rlist'>{keywords}</ul></section>"
            f"<section class='article-section article-section__full'>{self.text()}</section>"
            "<section class='article-section article-section__citedBy'><h2>Citing Literature</h2>"
            f"<ul class='rlist'>{f.related(5)}</ul></section></article>"
            "<aside class='article-row-right'><h2>Recommended</h2>"
            f"<ul class='rlist'>{f.related(5)}</ul></aside></main><footer>{f.footer()}</footer>"
        )


class OldWiley(Wiley):
    """Boxes for paragraphs, keywords as the only heading above a text that has none for its start."""

    name = "wiley before 2017"

    def abstract_box(self, inner: str, number: int) -> str:
        return (
            f"<div class='section' id='abstract{number}'><div id='abs-head'><h3>Abstract</h3>"
            f"</div><div class='para'>{inner}</div></div>"
        )

    def paragraph(self, inner: str) -> str:
        return f"<div class='para'><p>{inner}</p></div>"

    def section(self, title: str, depth: int, inner: str) -> str:
        if depth == 1 and title.lower().strip(" 1.") in {"introduction", "background"}:
            return f"<div class='section' id='sec-1'>{inner}</div>"
        level = min(depth + 2, 6)
        return f"<div class='section'><h{level}>{title}</h{level}>{inner}</div>"

    def reference_list(self, entries: str) -> str:
        return (
            "<div class='bibliography' id='cit'><h3>References</h3>"
            f"<ul class='plain'>{entries}</ul></div>"
        )

    def reference(self, entry: Reference) -> str:
        links = ("CrossRef", "PubMed", "CAS", "Web of Science® Times Cited: 9")
        shown = "".join(f"<li><a href='/l'>{name}</a>, </li>" for name in links)
        return (
            f"<li><span class='bullet'>{entry.number}</span><cite>{entry.text}</cite>"
            f"<ul class='externalReferences'>{shown}</ul></li>"
        )

    def page(self) -> str:
        paper = self.paper
        words = "".join(f"<li>{word};</li>" for word in paper.keywords or ["trial"])
        addresses = "".join(f"<li>{place}</li>" for place in paper.affiliations)
        return (
            f"<div id='header'>{f.footer()}</div><div id='content'><div id='articleDesc'>"
            f"<h1 class='articleTitle'>{paper.title}</h1><ol id='authors'>"
            f"{''.join(f'<li>{name}</li>' for name in paper.authors)}</ol></div>"
            f"<div id='additionalInformation'><h4>Author Information</h4><ol>{addresses}</ol>"
            "<h4>Publication History</h4><ol><li>Issue published online: 10 June 2016</li></ol>"
            f"</div></div><div id='productContent'><div id='fulltext'>{self.abstract()}"
            f"<div id='keywordLists'><h3>Keywords:</h3><ul class='keywordList'>{words}</ul></div>"
            f"{self.text()}</div><div id='relatedArticles'><h3>Related content</h3>"
            f"<ul>{f.related(4)}</ul></div></div><div id='footer'>{f.footer()}</div>"
        )


class ScienceDirect(Layout):
    """Paragraphs are boxes; downloads under each figure; an outline beside the text."""

    name = "sciencedirect"

    def paragraph(self, inner: str) -> str:
        return f"<div class='u-margin-s-bottom' id='p0010'>{inner}</div>"

    def cite(self, shown: str, number: int) -> str:
        return (
            f"<a class='anchor anchor-primary' href='#bib{number}' name='bbib{number}'><span "
            f"class='anchor-text-container'><span class='anchor-text'>{shown}</span></span></a>"
        )

    def abstract_box(self, inner: str, number: int) -> str:
        kind = "author" if not number else "author-highlights"
        return (
            f"<div class='abstract {kind}' id='abs{number}'><h2 class='section-title u-h4'>"
            f"{'Highlights' if number else 'Abstract'}</h2><div>{inner}</div></div>"
        )

    def section(self, title: str, depth: int, inner: str) -> str:
        level = min(depth + 1, 6)
        return (
            f"<section id='sec{depth}'><h{level} class='u-h4'>{title}</h{level}>{inner}</section>"
        )

    def figure(self, label: str, caption: str) -> str:
        links = "".join(
            f"<li><a class='anchor download-link' href='/d'><span>Download: <span>Download {kind} "
            "image (207KB)</span></span></a></li>"
            for kind in ("high-res", "full-size")
        )
        return (
            "<figure class='figure text-xs'><span><img src='x.jpg' alt='Fig'>"
            f"<ol class='links-for-figure'>{links}</ol></span><span class='captions text-s'><span>"
            f"<p><span class='label'>{label}</span>. {caption}</p></span></span></figure>"
        )

    def table(self, label: str, caption: str, rows: str, foot: str) -> str:
        return (
            "<div class='tables frame-topbot'><span class='captions text-s'><span><p>"
            f"<span class='label'>{label}</span>. {caption}</p></span></span>"
            f"<div class='groups'><table>{rows}</table></div>{foot}</div>"
        )

    def reference(self, entry: Reference) -> str:
        return (
            f"<li><span class='label'><a class='anchor' href='#bbib{entry.number}'><span>"
            f"[{entry.number}]</span></a></span><span class='reference'><div class='contribution'>"
            f"{entry.text}</div><div class='ReferenceLinks u-font-sans'><a class='anchor link' "
            "href='/pii'><span>View article</span></a><a href='/sc'><span>View in Scopus</span></a>"
            "<a href='https://scholar.google.com/x'><span>Google Scholar</span></a></div></span>"
            "</li>"
        )

    def reference_list(self, entries: str) -> str:
        return (
            "<div class='Tail'><section class='bibliography' id='bibliography'><h2>References</h2>"
            f"<section class='bibliography-sec'><ol class='references'>{entries}</ol></section>"
            "</section></div>"
        )

    def page(self) -> str:
        paper = self.paper
        words = "".join(
            f"<div class='keyword'><span>{word}</span></div>" for word in paper.keywords
        )
        return (
            "<div class='toc-container'><div class='TableOfContents'><div class='Outline'><h2>"
            "Outline</h2><ol><li><a href='#a'>Abstract</a></li><li><a href='#k'>Keywords</a></li>"
            "<li><a href='#1'>1. Introduction</a></li></ol><a>Show full outline</a></div>"
            f"<h2>Cited by (14)</h2><h2>Figures ({self.figures})</h2></div></div>"
            "<article class='col-lg-12' role='main'><div class='Publication'><h2>"
            f"<a href='/j'>{paper.journal}</a></h2><div>Volume 12, March 2019, 100–110</div></div>"
            f"<h1 class='Head'><span class='title-text'>{paper.title}</span></h1>"
            "<div class='Banner' id='banner'><div class='AuthorGroups'><div class='author-group'>"
            f"{''.join(f'<a>{name}</a>, ' for name in paper.authors)}</div></div><div>Add to "
            "Mendeley</div><div>Share</div><div>Cite</div></div><div class='LicenseInfo'>Under a "
            "Creative Commons license</div><div class='Abstracts' id='abstracts'>"
            f"{self.abstract()}</div><div class='issue-navigation'><a>Previous article</a> "
            "<a>Next article</a></div><div class='Keywords'><div class='keywords-section'>"
            f"<h2 class='section-title'>Keywords</h2>{words}</div></div>"
            f"<div class='Body' id='body'><div>{self.text()}</div></div>"
            "<section class='ListArticles' id='section-cited-by'><header><h2>Cited by (14)</h2>"
            f"</header><ul>{f.related(6)}</ul></section></article><aside class='RelatedContent'>"
            f"<h2>Recommended articles</h2><ul>{f.related(6, teasers=True)}</ul></aside>"
            f"<footer>{f.footer()}</footer>"
        )


class SpringerNature(Layout):
    """Recommendations between abstract and text; captions in bold; cards about everything."""

    name = "springer nature"

    def abstract_box(self, inner: str, number: int) -> str:
        return self.section("Abstract" if not number else "Plain language summary", 1, inner)

    def section(self, title: str, depth: int, inner: str) -> str:
        if depth > 1:
            return f"<h{depth + 1} class='c-article__sub-heading'>{title}</h{depth + 1}>{inner}"
        return (
            f"<section data-title='{title[:20]}'><div class='c-article-section'>"
            f"<h2 class='c-article-section__title js-section-title'>{title}</h2>"
            f"<div class='c-article-section__content'>{inner}</div></div></section>"
        )

    def cite(self, shown: str, number: int) -> str:
        return f"<a data-track='click' href='#ref-CR{number}' title='Smith J. {number}'>{shown}</a>"

    def figure(self, label: str, caption: str) -> str:
        return (
            "<div class='c-article-section__figure js-c-reading-companion-figures-item'>"
            f"<figure><figcaption><b class='c-article-section__figure-caption'>{label}</b>"
            "</figcaption><div class='c-article-section__figure-content'><a href='/figures/1'>"
            "<img src='x.png'></a><div class='c-article-section__figure-description'>"
            f"<p>{caption}</p></div></div><div class='u-text-right u-hide-print'><a class='"
            "c-article__pill-button' href='/figures/1'><span>Full size image</span></a></div>"
            "</figure></div>"
        )

    def table(self, label: str, caption: str, rows: str, foot: str) -> str:
        return (
            "<div class='c-article-table'><figure><figcaption class='c-article-table__figcaption'>"
            f"<b>{label} {caption}</b></figcaption><div class='c-article-table-container'>"
            f"<table class='data'>{rows}</table></div>{foot}<div class='u-text-right u-hide-print'>"
            "<a href='/tables/1'><span>Full size table</span></a></div></figure></div>"
        )

    def reference(self, entry: Reference) -> str:
        return (
            f"<li class='c-article-references__item' data-counter='{entry.number}.'><p class="
            f"'c-article-references__text'>{entry.text}</p><p class='c-article-references__links "
            "u-hide-print'><a href='https://doi.org/x'>Article</a>&nbsp;<a href='/cas'>CAS</a>"
            "&nbsp;<a href='/pm'>PubMed</a>&nbsp;<a href='/pmc'>PubMed Central</a>&nbsp;"
            "<a href='http://scholar.google.com/x'>Google Scholar</a>&nbsp;</p></li>"
        )

    def reference_list(self, entries: str) -> str:
        download = "<p class='c-article-references__download'><a>Download references</a></p>"
        return self.section("References", 1, f"<ol class='c-article-references'>{entries}</ol>") + (
            download
        )

    def page(self) -> str:
        paper = self.paper
        authors = "".join(f"<li>{name}<sup>1</sup>, </li>" for name in paper.authors)
        places = "".join(f"<li><p>{place}</p></li>" for place in paper.affiliations)
        return (
            f"<div class='cc-banner'>{f.cookies()}</div><header class='c-header'>{f.footer()}"
            "</header><div class='c-article-main'><main class='c-article-main-column'>"
            "<article><div class='c-article-header'><ul class='c-article-identifiers'><li>Open "
            "access</li><li>Published: 01 May 2021</li></ul>"
            f"<h1 class='c-article-title'>{paper.title}</h1><ul class='c-article-author-list'>"
            f"{authors}</ul><div class='c-article-metrics-bar__wrapper'>{f.metrics()}</div></div>"
            f"<div class='c-article-body'>{self.abstract()}"
            "<section data-title='Inline Recommendations'><div class='c-article-recommendations'>"
            "<h3 class='c-article-recommendations-title'>Similar content being viewed by others"
            f"</h3>{f.related(3, '<article>{}</article>')}</div></section>"
            f"<div class='main-content'>{self.text()}</div>"
            + self.section(
                "Author information",
                1,
                f"<h3>Authors and Affiliations</h3><ol>{places}</ol><h3>Corresponding author</h3>"
                f"<p>Correspondence to {(paper.authors or [''])[0]}.</p>",
            )
            + self.section(
                "About this article",
                1,
                "<h3>Cite this article</h3><p>Someone et al. A Journal 1, 2 (2021).</p><ul><li><p>"
                "Received: 1 May 2020</p></li></ul><h3>Share this article</h3><p>Anyone you share "
                "the following link with will be able to read this content:</p><p>Sorry, a "
                "shareable link is not currently available for this article.</p>",
            )
            + "</div></article></main><aside class='c-article-extras'><h3>Associated content</h3>"
            f"<ul>{f.related(3)}</ul><div>Advertisement</div></aside></div>"
        )


class Silverchair(Layout):
    """Headings beside their text; every figure again in a window; references as rows of boxes."""

    name = "silverchair"

    def abstract_box(self, inner: str, number: int) -> str:
        return (
            f"<h2 class='abstract-title'>Abstract</h2><section class='abstract'>{inner}</section>"
        )

    def section(self, title: str, depth: int, inner: str) -> str:
        return f"<h{depth + 1} class='section-title jumplink-heading'>{title}</h{depth + 1}>{inner}"

    def paragraph(self, inner: str) -> str:
        return f"<p class='chapter-para'>{inner}</p>"

    def cite(self, shown: str, number: int) -> str:
        return f"<span class='xrefLink'></span><a href='javascript:;' class='link'>{shown}</a>"

    def figure(self, label: str, caption: str) -> str:
        links = (
            "<div class='fig-orig original-slide'><a class='fig-view-orig' href='/v'>Open in new "
            "tab</a><a class='download-slide' href='/s'>Download slide</a></div>"
        )
        said = (
            f"<div class='label fig-label'>{label}</div>"
            f"<div class='caption fig-caption'><p class='chapter-para'>{caption}</p></div>"
        )
        return (
            f"<div class='fig fig-section js-fig-section'><img src='x.png'>{said}{links}</div>"
            "<div class='fig fig-modal reveal-modal -full-height'><div class='fig-modal-label'>"
            f"{said}{links}</div></div>"
        )

    def table(self, label: str, caption: str, rows: str, foot: str) -> str:
        return (
            "<div class='table-full-width-wrap'><div class='table-wrap'><div class='table-wrap-"
            f"title'><span class='label'>{label}</span><div class='caption'><p>{caption}</p></div>"
            f"</div><div class='table-overflow'><table>{rows}</table></div><div class='table-wrap-"
            f"foot'>{foot}</div></div><div class='table-modal'><a>Open in new tab</a></div></div>"
        )

    def reference(self, entry: Reference) -> str:
        return (
            "<div class='js-splitview-ref-item'><div class='refLink-parent'><span class='refLink'>"
            f"<a name='r'>{entry.number}</a></span></div><div class='ref'><div class='ref-content'>"
            f"<div class='mixed-citation citation'>{entry.text}<div class='citation-links'>"
            "<p><span class='google-scholar-ref-link'><a href='https://scholar.google.com/x'>Google"
            " Scholar</a></span><span class='crossref-doi'><a href='https://doi.org/x'>Crossref</a>"
            "</span></p><p class='worldcat-link'><a href='/w'>WorldCat</a></p></div></div></div>"
            "</div></div>"
        )

    def reference_list(self, entries: str) -> str:
        return (
            "<h2 class='backreferences-title'>References</h2>"
            f"<div class='ref-list js-splitview-ref-list'>{entries}</div>"
        )

    def page(self) -> str:
        paper = self.paper
        cards = "".join(
            "<span class='al-author-info-wrap'><a class='linked-name'>"
            f"{name}</a><span class='al-author-info-wrap arrow-up'><div class='info-card-author'>"
            f"<div class='info-card-affilitation'>{(paper.affiliations or [''])[0]}</div><div "
            "class='info-card-search-label'>Search for other works by this author on:</div><a>"
            "Oxford Academic</a><a>PubMed</a><a>Google Scholar</a></div></span></span>"
            for name in paper.authors
        )
        return (
            f"<div class='site-theme-header'>{f.footer()}</div><div class='page-column-wrap'>"
            "<div id='InfoColumn'><div class='widget widget-ArticleNavLinks'><a>Article Navigation"
            "</a></div></div><div class='page-column--center' id='ContentColumn'>"
            "<div class='widget widget-ArticleTopInfo'><h1 class='wi-article-title'>"
            f"{paper.title}</h1><div class='al-authors-list'>{cards}</div><div class='ww-citation-"
            "primary'><em>A Journal</em>, Volume 3, Issue 2, May 2019, Pages 1–9</div></div>"
            "<div class='toolbar-wrap'><a>PDF</a><a>Split View</a><a>Cite</a><a>Permissions</a>"
            f"<ul>{f.share()}</ul></div><div class='widget widget-ArticleFulltext'><div class="
            f"'module-widget'><div class='widget-items'>{self.abstract()}"
            f"{self.text()}<div class='copyright'>© The Authors 2019.</div></div></div></div>"
            f"</div><div id='Sidebar'><div class='widget-ArticleLevelMetrics'>{f.metrics()}</div>"
            f"<div class='widget-AlertsWidget'><h3>Email alerts</h3>{f.alerts()}</div>"
            f"<div class='widget-RelatedContent'><h3>More on this topic</h3><ul>{f.related(5)}</ul>"
            f"<h3>Related articles in</h3><a>Web of Science</a></div></div></div>{f.footer()}"
        )


class OpenReview(Layout):
    """The article, its referees' reports and its readers' comments in one column."""

    name = "open review"

    def section(self, title: str, depth: int, inner: str) -> str:
        if depth == 1:
            return f"<div class='generated-article-body'><h2 class='main-title'>{title}</h2>{inner}</div>"
        return f"<div class='section'><h{depth + 1} class='section-title'>{title}</h{depth + 1}>{inner}</div>"

    def abstract_box(self, inner: str, number: int) -> str:
        return (
            "<div class='article-abstract'><h2 class='article-headings'>Abstract</h2>"
            f"<div class='abstract-text is-expanded'>{inner}</div></div>"
        )

    def figure(self, label: str, caption: str) -> str:
        return (
            "<div class='fig panel clearfix'><a href='x.gif'><img class='graphic' src='x.gif'></a>"
            f"<div class='caption'><h3>{label}. {caption}</h3></div></div>"
        )

    def table(self, label: str, caption: str, rows: str, foot: str) -> str:
        return (
            f"<div class='table-wrap panel clearfix'><div class='caption'><h3>{label}. {caption}"
            f"</h3></div><table class='article-table'>{rows}</table>{foot}</div>"
        )

    def reference(self, entry: Reference) -> str:
        return (
            f"<li><span class='citation'><a name='ref-{entry.number}'></a>{entry.text} <a href="
            "'/pm'>PubMed Abstract</a> | <a href='/x'>Publisher Full Text</a> | <a href='/f'>Free "
            "Full Text</a></span></li>"
        )

    def reference_list(self, entries: str) -> str:
        return (
            "<div class='generated-article-footer'><div class='back-section'><div class='section "
            f"ref-list'><h2 class='main-title'>References</h2><ul>{entries}</ul></div></div></div>"
        )

    def page(self) -> str:
        paper = self.paper
        reports = "".join(
            "<div class='referee-response-container'><div class='article-count-box'><span>Views"
            f"</span><span>{90 * number}</span><div>Cite this report</div></div><h2>Referee Report "
            f"{number} May 2019</h2><div class='referee-name'><b>{name}</b>, University Hospital"
            f"</div><div class='referee-report-content'>{f.report(number)}</div>"
            f"<div><b>Author Response</b> {f.comment()}</div></div>"
            for number, name in enumerate(("Ada Holm", "Ben Achebe", "Chen Wei"), 1)
        )
        return (
            f"<div class='header-wrapper'>{f.footer()}</div><div class='content-wrapper row'>"
            "<div class='eight columns'><div class='article-interaction-container'><div class="
            "'article-interaction-box'><div>ALL Metrics</div>"
            f"{f.metrics()}<div class='popup-window'>Cite this article: {paper.title}</div></div>"
            f"</div><div class='article-header-information'><h1>{paper.title}</h1><p class="
            f"'f1r-article-desk'>[version 2; peer review: 2 approved]</p>{', '.join(paper.authors)}"
            f"<div class='expanded-details affiliations'>{'; '.join(paper.affiliations)}</div>"
            f"</div>{self.abstract()}<div id='article-context' class='article-context'>"
            f"{self.text()}<div id='article-reports' class='reports-comments'>"
            "<h2 class='main-title'>Open Peer Review</h2><div>Current Referee Status: Approved"
            f"</div>{reports}</div><div id='article-comments'><h2>Comments on this article</h2>"
            f"<div class='user-comment'>{f.comment()}</div><div>Add a comment</div></div></div>"
            "</div><div class='four columns'><div class='article-sidebar'><h3>Open Peer Review</h3>"
            "<p>Reviewer Status</p><p>Reviewer Reports: 3</p><p>Alongside their report, reviewers "
            "assign a status to the article: Approved: the paper is scientifically sound in its "
            "current form and only minor, if any, improvements are suggested. Approved with "
            "reservations: a number of small changes, sometimes more significant revisions are "
            "required to address specific details and improve the paper's academic merit.</p>"
            f"</div></div></div><div class='footer'>{f.footer()}</div>"
        )


class HighWire(Layout):
    """Links under every figure; references taken apart into lists of names."""

    name = "highwire"

    def section(self, title: str, depth: int, inner: str) -> str:
        kind = "section" if depth == 1 else "subsection"
        return f"<div class='{kind}' id='sec-{depth}'><h{depth + 1}>{title}</h{depth + 1}>{inner}</div>"

    def abstract_box(self, inner: str, number: int) -> str:
        return (
            f"<div class='section abstract' id='abstract-{number}'><h2>Abstract</h2>{inner}</div>"
        )

    def cite(self, shown: str, number: int) -> str:
        return f"<a id='xref-ref-{number}' class='xref-bibr' href='#ref-{number}'>{shown}</a>"

    def figure(self, label: str, caption: str) -> str:
        return (
            "<div class='fig pos-float'><div class='highwire-figure'><div class='fig-inline-img-"
            f"wrapper'><a href='/F1.large.jpg' title='{label}'><img src='x.gif'></a></div>"
            "<ul class='highwire-figure-links inline'><li class='download-fig'><a href='/d'>"
            "Download figure</a></li><li class='new-tab'><a href='/n'>Open in new tab</a></li>"
            "<li class='download-ppt'><a href='/p'>Download powerpoint</a></li></ul></div>"
            f"<div class='fig-caption'><span class='fig-label'>{label}</span> <p>{caption}</p>"
            "</div></div>"
        )

    def table(self, label: str, caption: str, rows: str, foot: str) -> str:
        return (
            "<div class='table pos-float'><div class='table-inline table-callout-links'><ul>"
            "<li class='view-popup'><a href='/v'>View this table:</a></li><li><a href='/i'>View "
            "inline</a></li><li><a href='/p'>View popup</a></li></ul></div><div class='table-"
            f"caption'><span class='table-label'>{label}</span> <p>{caption}</p></div>"
            f"<table>{rows}</table><div class='table-foot'>{foot}</div></div>"
        )

    def reference(self, entry: Reference) -> str:
        return (
            f"<li><span class='ref-label'>{entry.number}.</span><a class='rev-xref-ref' href='#x' "
            "title='View reference in text'>↵</a><div class='cit ref-cit'><div class='cit-metadata'>"
            f"<cite>{entry.text}</cite></div><div class='cit-extra'><a class='cit-ref-sprinkles'>"
            "<span>OpenUrl</span></a><a href='/x'><span>CrossRef</span></a><a href='/p'><span>"
            "PubMed</span></a><a href='/w'><span>Web of Science</span></a><a href='/g'><span>Google "
            "Scholar</span></a></div></div></li>"
        )

    def reference_list(self, entries: str) -> str:
        return (
            "<div class='section ref-list'><h2>References</h2>"
            f"<ol class='cit-list ref-use-labels'>{entries}</ol></div>"
        )

    def page(self) -> str:
        paper = self.paper
        rows = "".join(f"<div><span>{name}</span></div>" for name in paper.authors)
        return (
            f"<div id='header'>{f.footer()}</div><div class='panel-panel main-content-wrapper'>"
            "<div class='highwire-article-citation'><h1 class='highwire-cite-title' "
            f"id='page-title'>{paper.title}</h1><div class='highwire-cite-authors'>{rows}</div>"
            "<div class='highwire-cite-metadata'>doi: https://doi.org/10.1101/1</div></div>"
            "<ul class='tabs'><li><a>Abstract</a></li><li><a>Full Text</a></li><li><a>Info/History"
            "</a></li><li><a>Metrics</a></li><li><a>Preview PDF</a></li></ul>"
            f"<div class='article fulltext-view'><span class='highwire-journal-article-marker-"
            f"start'></span>{self.abstract()}{self.text()}<span class='highwire-journal-article-"
            "marker-end'></span></div><div id='disqus_thread'><h2>Comments</h2>"
            f"{f.comment()}{f.comment()}</div><a class='back-to-top'>Back to top</a></div>"
            "<div class='panel-panel sidebar-right-wrapper'><a>Previous</a><a>Next</a><div>Posted "
            f"May 02, 2021.</div><div>Email</div><ul>{f.share()}</ul><h2>Subject Area</h2>"
            f"<ul><li><a>Ecology</a></li></ul><h2>Subject Areas</h2><ul>{f.related(10)}</ul></div>"
        )


class SciELO(Layout):
    """Sections under first-rank headings; each citation carries the whole reference, hidden."""

    name = "scielo"

    def section(self, title: str, depth: int, inner: str) -> str:
        if depth == 1:
            return (
                f"<div class='articleSection' data-anchor='{title[:20]}'>"
                f"<h1 class='articleSectionTitle'>{title}</h1>{inner}</div>"
            )
        return f"<h{depth + 1}>{title}</h{depth + 1}>{inner}"

    def abstract_box(self, inner: str, number: int) -> str:
        return (
            "<div class='articleSection articleSection--abstract'><h1 class='articleSectionTitle'>"
            f"Abstract</h1>{inner}</div>"
        )

    def cite(self, shown: str, number: int) -> str:
        entries = self.paper.references
        told = entries[number - 1].text if 0 < number <= len(entries) else ""
        return (
            f"<span class='ref'><sup class='xref'>{shown}</sup><span class='refCtt closed'>"
            f"<span class='refCttPadding'>{told}</span></span></span>"
        )

    def figure(self, label: str, caption: str) -> str:
        return (
            "<div class='row fig'><a data-toggle='modal' data-target='#ModalFig1'><div class='thumb'>"
            "<div class='zoom'></div></div></a><div class='col-md-8'><strong>"
            f"{label}</strong> {caption}</div></div>"
        )

    def reference(self, entry: Reference) -> str:
        return (
            f"<li><sup class='xref big'>{entry.number}</sup><div>{entry.text}"
            f"<br><a href='https://doi.org/{entry.doi}'>» https://doi.org/{entry.doi}</a></div></li>"
        )

    def reference_list(self, entries: str) -> str:
        return (
            "<div class='articleSection'><h1 class='articleSectionTitle'>References</h1><div "
            f"class='ref-list'><ul class='refList'>{entries}</ul></div></div>"
        )

    def page(self) -> str:
        paper = self.paper
        cards = "".join(
            f"<div class='tutors'><strong>{name}</strong><br>{f.biography(name)}</div>"
            for name in paper.authors
        )
        figures = "".join(
            "<div class='modal fade ModalFigs'><div class='modal-dialog'><h4 class='modal-title'>"
            f"{self.prose(el.find('label'))} {self.prose(el.find('caption/p'))}</h4></div></div>"
            for el in paper.tree.iter("fig")
        )
        return (
            f"<header>{f.footer()}</header><section class='articleCtt'><div class='container'>"
            "<div class='articleBadge'>ORIGINAL ARTICLES</div>"
            f"<h1 class='article-title'>{paper.title}</h1><div class='contribGroup'>"
            f"{', '.join(paper.authors)} About the authors</div><article id='articleText' class="
            f"'articleTxt'>{self.abstract()}{self.text()}<div class='articleSection'><h1 class='"
            "articleSectionTitle'>Publication Dates</h1><ul><li><strong>Publication in this "
            "collection</strong><br>May 2019</li></ul></div></article></div></section>"
            f"{figures}<div class='modal fade ModalTutors' id='ModalTutors'>{cards}</div>"
            "<div class='floatingMenu'><ul><li><a>Figures (2)</a></li><li><a>Tables (1)</a></li>"
            f"</ul></div><section class='share'>{f.share()}</section><footer>{f.footer()}</footer>"
        )


LAYOUTS = (
    Wiley, OldWiley, ScienceDirect, SpringerNature, Silverchair, OpenReview, HighWire, SciELO,
)  # fmt: skip
