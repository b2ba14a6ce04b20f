"""The texts of preprints as arXiv sends them: LaTeXML's HTML, LaTeX sources, licenses."""

import gzip
import io
import tarfile
from html import escape

from tests.world.arxiv_papers import CC_BY, Preprint
from utils.demo.prose import body, references
from utils.demo.records import strip_markup

_FORMULA = r"v=\frac{V_{\max}S}{K_{m}+S}"
_MATH = (
    '<math alttext="{tex}" class="ltx_Math" display="{display}" id="{name}"><semantics><mrow>'
    '<mi>v</mi><mo>=</mo><mfrac><mi>a</mi><mi>b</mi></mfrac></mrow><annotation encoding="'
    'application/x-tex">{tex}</annotation></semantics></math>'
)
PICTURE = b"\x89PNG\r\n\x1a\n a picture"
_TEX_SIGNS = str.maketrans(
    {"%": r"\%", "&": r"\&", "#": r"\#", "_": r"\_", "β": r"$\beta$", "γ": r"$\gamma$",
     "±": r"$\pm$", "°": r"$^\circ$", "<": "$<$", ">": "$>$"}
)  # fmt: skip


def html_of(paper: Preprint) -> str:
    """The page arXiv makes with LaTeXML."""
    terms = "CC BY 4.0" if paper.license == CC_BY else "arXiv.org perpetual non-exclusive license"
    people = "".join(
        f'<span class="ltx_creator ltx_role_author"><span class="ltx_personname">{escape(name)}'
        "</span></span>"
        for name in paper.printed_names
    )
    sections = "".join(
        _section(at, title, paragraphs)
        for at, (title, paragraphs) in enumerate(body(paper.record), 1)
    )
    cited = "".join(
        f'<li class="ltx_bibitem" id="bib.bib{at}"><span class="ltx_tag ltx_role_refnum '
        f'ltx_tag_bibitem">[{at}]</span><span class="ltx_bibblock">{who}. {title}. <em class="'
        f'ltx_emph ltx_font_italic">{journal}</em>, {year}.</span></li>'
        for at, (who, title, journal, year, _) in enumerate(references(paper.record), 1)
    )
    version = f"arXiv:{paper.record.arxiv}v{len(paper.versions)} [{paper.categories[0]}]"
    return (
        '<!DOCTYPE html><html lang="en"><head><meta content="text/html; charset=utf-8" http-equiv="'
        f'content-type"/><base href="{paper.record.arxiv}v{len(paper.versions)}/"/>'
        f'<title>{escape(paper.printed_title)}</title></head><body><nav class="'
        'ltx_page_navbar"><nav class="ltx_TOC"><ol class="ltx_toclist"><li>1 Introduction</li></ol>'
        '</nav></nav><header class="desktop_header"><a href="#">Report Issue</a><a href="'
        f'https://arxiv.org/abs/{paper.record.arxiv}">Back to arXiv</a></header><div class="'
        'ltx_page_main"><div class="ltx_page_content"><div class="section" id="target-section"><a '
        'href="https://info.arxiv.org/help/license/index.html#licenses-available" id="license-tr">'
        f'License: {terms}</a><div id="watermark-tr">{version} 01 Mar 2026</div></div><article '
        'class="ltx_document"><h1 class="ltx_title ltx_title_document">'
        f'{escape(paper.printed_title)}</h1><div class="ltx_authors">{people}</div><div class="'
        'ltx_abstract"><h6 class="ltx_title ltx_title_abstract">Abstract</h6><p class="ltx_p">'
        f'{escape(paper.summary)}</p></div>{sections}<section class="ltx_bibliography" id="bib">'
        '<h2 class="ltx_title ltx_title_bibliography">References</h2><ul class="ltx_biblist">'
        f"{cited}</ul></section></article></div></div></body></html>"
    )


def _section(at: int, title: str, paragraphs: tuple[str, ...]) -> str:
    inline = _MATH.format(tex="K_{m}", display="inline", name=f"S{at}.m1")
    parts = "".join(
        f'<div class="ltx_para" id="S{at}.p{n}"><p class="ltx_p">{text} Here {inline} is fixed.</p>'
        "</div>"
        for n, text in enumerate(paragraphs, 1)
    )
    if title == "Results":
        parts += (
            f'<figure class="ltx_figure" id="S{at}.F1"><img alt="Refer to caption" class="ltx_'
            f'graphics" id="S{at}.F1.g1" src="x1.png"/><figcaption class="ltx_caption"><span class'
            '="ltx_tag ltx_tag_figure">Figure 1: </span>Rates over a season.</figcaption></figure>'
        )
        block = _MATH.format(tex=escape(_FORMULA), display="block", name=f"S{at}.E1.m1")
        parts += (
            f'<table class="ltx_equation ltx_eqn_table" id="S{at}.E1"><tbody><tr class="'
            f'ltx_equation ltx_eqn_row"><td class="ltx_eqn_cell">{block}</td><td class="'
            'ltx_eqn_cell"><span class="ltx_tag ltx_tag_equation">(1)</span></td></tr></tbody>'
            "</table>"
        )
    return (
        f'<section class="ltx_section" id="S{at}"><h2 class="ltx_title ltx_title_section"><span '
        f'class="ltx_tag ltx_tag_section">{at} </span>{title}</h2>{parts}</section>'
    )


def source_of(paper: Preprint) -> bytes:
    """What was submitted, packed as arXiv packs it."""
    if paper.source == "gz":
        return gzip.compress(_main(paper, "\n".join(map(_tex, _parts(paper)))).encode(), mtime=0)
    files = {
        "main.tex": _main(
            paper, "\n".join(rf"\input{{sec{n}}}" for n, _ in enumerate(_parts(paper)))
        ),
        **{f"sec{n}.tex": _tex(part) for n, part in enumerate(_parts(paper))},
        "main.bbl": _bbl(paper),
        "figures/fig1.pdf": "%PDF-1.5 a picture",
        "supplement.tex": r"\documentclass{article}\begin{document}Further data.\end{document}",
    }
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, text in files.items():
            about = tarfile.TarInfo(name)
            about.size = len(text.encode())
            tar.addfile(about, io.BytesIO(text.encode()))
    return packed.getvalue()


def _parts(paper: Preprint) -> list[tuple[str, tuple[str, ...]]]:
    return list(body(paper.record))


def _tex(part: tuple[str, tuple[str, ...]]) -> str:
    title, paragraphs = part
    formula = "\\begin{equation}\n" + _FORMULA + "\n\\label{eq:rate}\\end{equation}\n"
    texts = "\n\n".join(strip_markup(text).translate(_TEX_SIGNS) for text in paragraphs)
    cited = r" as shown before~\cite{ref1}, with $K_{m}$ fixed."
    return f"\\section{{{title}}}\n{texts}{cited}\n{formula if title == 'Results' else ''}"


def _main(paper: Preprint, inner: str) -> str:
    people = r" \and ".join(paper.printed_names)
    bibliography = r"\bibliography{refs}" if paper.source == "tar" else _bbl(paper)
    return (
        "% submitted to nobody\n\\documentclass[11pt]{article}\n\\usepackage{amsmath,graphicx}\n"
        f"\\title{{{paper.printed_title}}}\n\\author{{{people}}}\n\\begin{{document}}\n\\maketitle\n"
        f"\\begin{{abstract}}\n{paper.summary.translate(_TEX_SIGNS)}\n\\end{{abstract}}\n{inner}\n"
        "\\begin{figure}\\includegraphics{figures/fig1}\\caption{Rates.}\\end{figure}\n"
        f"{bibliography}\n\\end{{document}}\n"
    )


def _bbl(paper: Preprint) -> str:
    rows = "\n\n".join(
        rf"\bibitem{{ref{at}}} {who}. \newblock {title}. \newblock \emph{{{journal}}}, {year}."
        for at, (who, title, journal, year, _) in enumerate(references(paper.record), 1)
    )
    return f"\\begin{{thebibliography}}{{99}}\n{rows}\n\\end{{thebibliography}}\n"
