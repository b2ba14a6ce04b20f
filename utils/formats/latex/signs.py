r"""Commands that only print, style or space text: what each leaves in it.

Journals by the commands that astronomers write for them (``\apj``), as AASTeX prints them.

https://journals.aas.org/aastexguide/#abbreviations lists them; ADS exports them in every entry.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from ..jats.mathml import pairs

# The reader's own marks, in the private use area, which is taken out of every source.
ITALIC, BOLD, MONO = ("\ue001", "\ue002"), ("\ue003", "\ue004"), ("\ue005", "\ue006")
CELL, ROW, RULE, ITEM = "\ue010", "\ue011", "\ue012", "\ue013"
# On a title page set by hand: the ends of lines, and what is set large.
LINE: Final = "\ue030"
LARGE: Final = ("\ue031", "\ue032")
WIDE, HIGH, SPANS = "\ue014", "\ue015", "\ue016"
REFERS, BETWEEN, REFERRED = "\ue020", "\ue021", "\ue022"
_LETTERS: Final = (
    "ss ß SS SS o ø O Ø l ł L Ł ae æ AE Æ oe œ OE Œ aa å AA Å i ı j ȷ dh ð DH Ð th þ TH Þ dj đ "
    "DJ Đ ng ŋ NG Ŋ S § P ¶ dag † ddag ‡ pounds £ copyright © lq ‘ rq ’ guillemotleft « "
    "guillemotright » textdegree ° degree ° textmu µ micro µ celsius °C ohm Ω textohm Ω "
    "perthousand ‰ euro € slash / dots … ldots … textellipsis … textendash – textemdash — "
    "textquotedblleft “ textquotedblright ” textquoteleft ‘ textquoteright ’ textquotesingle ' "
    "texttimes × textpm ± textbullet • textperiodcentered · textregistered ® texttrademark ™ "
    "textcopyright © textdagger † textdaggerdbl ‡ textsection § textgreater > textbar | "
    "textasciitilde ~ textasciicircum ^ textunderscore _ texteuro € textonehalf ½ "
    "textexclamdown ¡ textquestiondown ¿ checkmark ✓ LaTeX LaTeX TeX TeX LaTeXe LaTeX2e "
    "BibTeX BibTeX eg e.g. bibinitperiod . bibrangedash – bibinithyphendelim .-"
)
_BLANKS: Final = (
    "quad qquad enspace thinspace space nobreakspace newline linebreak hfill hfil cr newblock "
    "bibinitdelim bibnamedelima bibnamedelimb bibnamedelimc bibnamedelimd bibnamedelimi "
    "textvisiblespace"
)
_JOURNALS: Final = (
    "aap A&A; aapr A&A Rev.; aaps A&AS; actaa Acta Astron.; aj AJ; ao Appl. Opt.; "
    "aplett Astrophys. Lett.; apj ApJ; apjl ApJL; apjlett ApJL; apjs ApJS; apjsupp ApJS; "
    "applopt Appl. Opt.; apss Ap&SS; araa ARA&A; astap A&A; azh AZh; baas BAAS; "
    "bain Bull. Astron. Inst. Netherlands; caa Chinese Astron. Astrophys.; "
    "cjaa Chinese J. Astron. Astrophys.; fcp Fund. Cosmic Phys.; gca Geochim. Cosmochim. Acta; "
    "grl Geophys. Res. Lett.; iaucirc IAU Circ.; icarus Icarus; jcap JCAP; jcp J. Chem. Phys.; "
    "jgr J. Geophys. Res.; jqsrt JQSRT; jrasc JRASC; memras MmRAS; "
    "memsai Mem. Soc. Astron. Italiana; mnras MNRAS; nar New Astron. Rev.; nat Nature; "
    "nphysa Nucl. Phys. A; pasa PASA; pasj PASJ; pasp PASP; physrep Phys. Rep.; "
    "physscr Phys. Scr.; planss Planet. Space Sci.; pra Phys. Rev. A; prb Phys. Rev. B; "
    "prc Phys. Rev. C; prd Phys. Rev. D; pre Phys. Rev. E; prl Phys. Rev. Lett.; "
    "procspie Proc. SPIE; qjras QJRAS; rmxaa Rev. Mexicana Astron. Astrofis.; skytel S&T; "
    "solphys Sol. Phys.; sovast Soviet Ast.; ssr Space Sci. Rev.; zap ZAp"
)
JOURNALS: Final = dict(entry.split(" ", 1) for entry in _JOURNALS.split("; "))
SIGNS: Final = {
    **{sign: sign for sign in "%&#{}_"},
    **dict.fromkeys("/-!@", ""),
    **dict.fromkeys((*" ,;:\n\t", *_BLANKS.split()), " "),
    **dict.fromkeys(("hskip", "cellcolor", "today"), ""),
    **pairs(_LETTERS),
    **dict.fromkeys(("$", "textdollar"), "\\$"),
    "textless": "\\<",
    "textbackslash": "\\\\",
    "textasteriskcentered": "\\*",
    "textasciigrave": "\\`",
    "and": ", ",
    **JOURNALS,
}
ACCENTS: Final = {
    "'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304",
    ".": "\u0307", "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328",
    "r": "\u030a", "b": "\u0331", "d": "\u0323", "t": "\u0361",
}  # fmt: skip
# What follows: o an option in brackets, m an argument; neither is text.
LAYOUT: Final = {
    name: spec
    for spec, names in {
        "": "noindent indent centering raggedright raggedleft tableofcontents newpage clearpage "
        "cleardoublepage pagebreak nopagebreak smallskip medskip bigskip vfill vfil tiny "
        "scriptsize footnotesize small normalsize large onecolumn twocolumn rm normalfont "
        "rmfamily sffamily sf upshape mdseries sc scshape boldmath unboldmath singlespacing "
        "doublespacing onehalfspacing frenchspacing nonfrenchspacing sloppy fussy balance "
        "flushbottom raggedbottom listoffigures listoftables printindex frontmatter mainmatter "
        "backmatter bgroup egroup begingroup endgroup protect nobreak allowbreak goodbreak break "
        "strut phantomsection samepage par@deathcycles nolinebreak columnbreak hrule peerreview "
        "IEEEpeerreviewmaketitle IEEEmaketitle BibitemOpen linenumbers",
        "m": "vspace hspace bibliographystyle pagestyle thispagestyle pagenumbering hyphenation "
        "graphicspath usetikzlibrary index glsresetall vphantom phantom hphantom color pagecolor "
        "rowcolor selectlanguage urlstyle special linespread hypersetup sisetup pgfplotsset "
        "tikzset lstset theoremstyle enlargethispage preprint date BibitemShut citestyle "
        "savegeometry loadgeometry newgeometry extracolsep thanksref corref fnref inst "
        "altaffilmark orcid orcidlink orcidID received revised accepted printead authorrunning "
        "titlerunning icmltitlerunning copyrightyear pubyear firstpage lastpage acmYear acmDOI "
        "isbn shorttitle shortauthors shortauthor tocauthor toctitle journalname acmJournal "
        "acmVolume acmNumber acmArticle acmMonth setcopyright pdfinfo cline noalign",
        "mm": "setlength addtolength markboth settowidth fontsize addtocontents crefname Crefname "
        "DeclareUnicodeCharacter",
        "mmm": "definecolor addcontentsline titlespacing providecolor",
        "om": "affiliation affil address institute altaffiliation curraddr thanks "
        "IEEEauthorblockA subjclass dedicatory icmlaffiliation icmlcorrespondingauthor pacs PACS "
        "collaboration affaddr includegraphics captionsetup setlist ccsdesc lstinputlisting "
        "cellcolor includepdf geometry setcitestyle includesvg ead equalcont alsoaffiliation "
        "correspondingauthor orgdiv cortext fntext tnotetext nonumnote phone fax authornote",
        "omm": "rule titleformat acmConference",
        "o": "printbibliography allowdisplaybreaks addlinespace footnotemark hdashline",
    }.items()
    for name in names.split()
}
# Commands whose first arguments style the last, which is the text: what to skip.
STYLED: Final = {
    name: spec
    for spec, names in {
        "": "translation phantomsection selectfont",
        "o": "hyperref",
        "m": "adjustbox href@noop bibinfo bibfield Eprint hyperlink hypertarget fontfamily",
        "om": "textcolor colorbox rotatebox foreignlanguage",
        "mm": "resizebox",
        "mo": "scalebox",
        "oo": "makebox framebox",
        "omm": "fcolorbox",
        "moo": "raisebox",
        "ooom": "parbox",
    }.items()
    for name in names.split()
}
SWITCHES: Final = {
    **dict.fromkeys(("em", "it", "itshape", "sl", "slshape"), ITALIC),
    **dict.fromkeys(("bf", "bfseries"), BOLD),
    **dict.fromkeys(("tt", "ttfamily"), MONO),
}
# Marks around an argument.
EMPHASIS: Final = {
    **dict.fromkeys(("emph", "textit", "textsl", "bibemph"), ITALIC),
    **dict.fromkeys(("textbf", "mathbf"), BOLD),
    **dict.fromkeys(("texttt", "path", ""), MONO),
    **dict.fromkeys(("uline", "underline"), ("<u>", "</u>")),
    "textsuperscript": ("<sup>", "</sup>"),
    "textsubscript": ("<sub>", "</sub>"),
    "enquote": ("“", "”"),
}
# Pifont's numbers follow the order of Unicode's dingbats, but for the last three rows.
DINGBATS: Final = {
    **{str(number): chr(0x2701 + number - 33) for number in range(33, 127)},
    **{str(number): chr(0x2761 + number - 161) for number in range(161, 168)},
    **{str(number): chr(0x2460 + number - 172) for number in range(172, 182)},
    **{str(number): chr(0x2776 + number - 182) for number in range(182, 213)},
    **{str(number): chr(0x2798 + number - 216) for number in (*range(216, 240), *range(241, 255))},
    **dict(zip(("37", "42", "43", "72", "108"), "☎☛☞★●", strict=True)),
    **dict(zip(("110", "115", "116", "117", "119"), "■▲▼◆◗", strict=True)),
    **dict(zip(("168", "169", "170", "171", "213", "214", "215"), "♣♦♥♠→↔↕", strict=True)),
}
_LIGATURES: Final = (("``", "“"), ("''", "”"), ("---", "—"), ("--", "–"), ("`", "‘"), ("'", "’"))
_EMPHASIS_PATTERNS: Final = tuple(
    (re.compile(f"{on}([^\ue001-\ue006]*){off}"), mark)
    for (on, off), mark in ((ITALIC, "*"), (BOLD, "**"), (MONO, "`"))
)
_MARKS: Final = re.compile("[\ue001-\ue006]")


def typeset(text: str) -> str:
    """Letters as TeX sets them: quotation marks and dashes.

    >>> typeset("``a''--b")
    '“a”–b'
    """
    if "'" in text or "`" in text or "--" in text:
        for typed, printed in _LIGATURES:
            text = text.replace(typed, printed)
    return text


def accented(letters: str, accent: str) -> str:
    """The first letter with an accent on it.

    >>> accented("ıa", chr(0x301)), accented("o", chr(0x308))
    ('ía', 'ö')
    """
    first = {"ı": "i", "ȷ": "j"}.get(letters[:1], letters[:1])
    return unicodedata.normalize("NFC", f"{first}{accent}") + letters[1:] if first else ""


def with_emphasis(text: str) -> str:
    """Marks of emphasis as markdown; those without a partner, or around nothing, go."""
    if not _MARKS.search(text):
        return text
    for pattern, mark in (*_EMPHASIS_PATTERNS, *_EMPHASIS_PATTERNS[:2]):
        text = pattern.sub(lambda match, mark=mark: _emphasized(match[1], mark), text)  # type: ignore[misc]
    return _MARKS.sub("", text)


def _emphasized(inner: str, mark: str) -> str:
    core = inner.strip()
    if not core or core[0] == "*" or core[-1] == "*" or (mark == "`" and re.search(r"[`$]", core)):
        return inner
    if mark == "`":
        core = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", core)
    before, _, after = inner.partition(inner.strip())
    return f"{before}{mark}{core}{mark}{after}"
