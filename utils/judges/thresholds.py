"""The thresholds of all judges, with their units.

Names end in the unit: words, pages, references, characters, or a share or ratio that the comment
describes. A tuple of two or three values has rising weights.

The values were measured on the whole JATS articles in ``../shared/data/articles`` with the
publishers' pages, and on the tuning kinds of the lab (``quality/lab``). The separate measurements
were not kept. Values marked *real pages* were set on the 46 whole pages and 13 walls and landing
pages of ``../shared/data/html/real``.
"""

from __future__ import annotations

from typing import Final

from ..model.verdicts import REFUSE, WEAK

# Of a text at large (`.check`).
# no wall, landing page or preview shows as much: signals beside it are stray
LONG_TEXT_WORDS: Final = 1000
FULL_LENGTH_WORDS: Final = 2 * LONG_TEXT_WORDS  # real pages: whole without a list
FULL_LENGTH_SECTIONS: Final = 4  # real pages: with text under their headings
WALL_MAX_WORDS: Final = 300  # a page behind a wall explains itself in less
# the shortest research letters; landing pages leave fewer after the small print
RESEARCH_MIN_WORDS: Final = 300
SECTIONED_MIN_WORDS: Final = 180  # enough when it stands under two headings of its own or more
ABSTRACT_MAX_WORDS: Final = 600  # no abstract is that long
LETTER_MIN_WORDS: Final = 150  # a letter that cites something
EDITORIAL_MIN_WORDS: Final = 220  # an editorial without a citation
PRINT_MIN_PAGES: Final = 4  # fewer agree by chance
SHORT_KIND_MIN_WORDS: Final = 60  # of a kind that the record says is short
RUNNING_TEXT_SHARE: Final = 0.6  # of the words: an editorial is hardly anything but its text
CLEAR_CITATIONS: Final = 10  # citations or references
TITLE_WORDS_USED_SHARE: Final = 0.1  # of the telling words of the title alone
PREVIEW_MAX_WORDS: Final = 600  # closed articles show their first lines
CITATIONS_MIN: Final = 3  # citations, figures mentioned: fewer are chance
# of the telling words of title and abstract; papers use half of them
ABSTRACT_WORDS_USED_SHARE: Final = 0.15
ABSTRACT_MIN_WORDS: Final = 40  # an abstract with less is a citation, a teaser or a remark
EMPTY_MAX_WORDS: Final = 10  # of any kind: a title and a button
NOTE_MIN_WORDS: Final = 25  # an erratum may be two sentences; less is a caption
# JATS says what it is; only a body of a line or two ("Click here to view") is doubted.
JATS_BODY_MIN_WORDS: Final = 20
# of the words of the abstract, which every copy of the text contains once
ABSTRACT_REPEAT_RATIO: Final = 1.5
SCAN_MAX_WORDS_PER_PAGE: Final = 20  # pictures of pages carry none, or a stamp
# What signs must weigh together against XML that declares its parts and came to its end.
STRUCTURED_REFUSE: Final = REFUSE + WEAK

# Of parts that are missing (`.wholeness`).
BARE_HEADINGS: Final = (2, 3)  # headings without text, above others that are not deeper
BARE_HEADINGS_SHARE: Final = 0.25  # of the headings
# words of a paper that has an abstract: 1 % of 469 papers of the lab have fewer than 1,486
PAPER_MIN_WORDS: Final = 900
# of the words of a paper to those of its abstract: 1 % of these have less than 5.7
PAPER_TO_ABSTRACT_RATIO: Final = 4.5
LINK_MAX_WORDS: Final = 5  # words of a link that stands for a section
UNENDED_MIN_PARAGRAPHS: Final = 5
UNENDED_SHARES: Final = (0.5, 0.7)  # of the paragraphs
UNMENTIONED_MIN_FLOATS: Final = 2  # figures and tables
UNMENTIONED_SHARE: Final = 0.33  # of the figures and tables that are there
SHARE_MIN_REFERENCES: Final = 8  # in fewer, a share says nothing
LONG_LIST_REFERENCES: Final = 15  # fewer may be a selection
# words for each reference; none of 468 papers of the lab has less than 14, 1 % less than 26
WORDS_PER_REFERENCE_MIN: Final = 13
WORDS_PER_REFERENCE_AMPLE: Final = 120  # such a text may leave references uncited
STRAY_CITATIONS_SHARE: Final = 0.3  # of them, printed in another way
# of the list, at its end; whole papers leave out a tenth at most
UNCITED_TAIL_SHARE: Final = 0.12
UNCITED_ROW_REFERENCES: Final = 4  # consecutive references that are never cited
UNCITED_ROW_SHARE: Final = 0.03  # of the list; fewer in a long list are misread
HARDLY_CITED_SHARE: Final = 0.2  # of the list, cited in no way that is understood
# of the list, nowhere cited; whole papers leave out a tenth
UNCITED_SHARES: Final = (0.12, 0.36)
NAME_TO_YEAR_CHARS: Final = 60  # characters between a name and its year
# of the citations by name; a list in another form answers a quarter
ANSWERED_CITATIONS_SHARE: Final = 0.7
# of the list; whole papers name 0.7 of it, very few 0.6
NAMED_REFERENCES_SHARES: Final = (0.55, 0.85)
NUMBERING_SHARE: Final = (
    0.7  # of the numbers up to the last cited; with less, numbers are not citations
)
NUMBERING_STRICT_SHARE: Final = 0.85  # of the same, where a row is missing
UNLISTED_NUMBERING_SHARE: Final = 0.5  # of them, where there is no list that could answer
LISTED_PER_NAME_SHARE: Final = 0.15  # of the citations; one work is cited a few times
# of the highest number cited; a list may be misread by half
LISTED_PER_NUMBER_SHARE: Final = 0.25
UNMARKED_MIN_NUMBERS: Final = 10  # numbers at least that only a PDF's dots and commas mark
# of the references that the record counts; 1 % of 199 papers of the lab have less than .66
RECORDED_REFERENCES_SHARE: Final = 0.5
NUMBERED_MIN_ENTRIES: Final = 10  # real pages: entries that count on from 1
BY_NUMBER_MIN: Final = 5  # real pages: numbers; fewer may be equations
MISREAD_LIST_RATIO: Final = 2  # real pages: times the highest number cited
RESEARCH_PART_MIN_WORDS: Final = 100  # words of prose
MISSED_LIST_MIN_CITATIONS: Final = 3  # references at least before a list is missed
PDF_PAGES_SHARES: Final = (0.34, 0.6)  # a preprint's layout may be half as long
# words for each page that the record names; none of 113 papers of the lab has less than 135
WORDS_PER_PAGE_MIN: Final = (100, 130)
FOOTNOTES_UNTIL_YEAR: Final = "1975"  # works were cited in footnotes

# Of identity (`.identity`, `.titles`). Measured on the recorded articles, PDFs and real pages, and
# on the tuning pairs of ``quality/identity``.
SAME_TITLE_LIKENESS: Final = 0.88  # likeness of two titles, 0 to 1
NEAR_TITLE_LIKENESS: Final = 0.6  # with authors and abstract agreeing: changed between versions
SAME_ABSTRACT_SHARE: Final = 0.5  # of the abstract's four-word runs
SOME_ABSTRACT_SHARE: Final = 0.25  # of the same
OTHER_ABSTRACT_SHARE: Final = 0.1  # of the same; two papers of one group share as much
ABSTRACT_MIN_CHARS: Final = 200  # characters of an abstract that is compared
HIGHLIGHTS_MIN_BULLETS: Final = 2  # bullets in what publishers print in front of the abstract
SOME_AUTHORS_SHARE: Final = 0.5  # of the first six
OTHER_AUTHORS_SHARE: Final = 0.3  # of the first six
TITLE_MIN_WORDS: Final = 3  # telling words; "Editorial" and "In this issue" name no paper
LONE_TITLE_MIN_WORDS: Final = 4  # telling words, where neither authors nor abstract agree
BYLINE_WORDS: Final = 5  # words behind a title in which the first author's name shows a byline
PRINTED_TITLE_MIN_LETTERS: Final = 12  # letters of a title that is searched for in the opening
TYPO_MIN_LETTERS: Final = 8  # letters of a word in which a letter may be missing or exchanged
TYPO_PREFIX_LETTERS: Final = (
    4  # letters at its beginning that must agree: prefixes tell words apart
)
OPENING_CHARS: Final = 6000  # characters in which a text says what it is
HEAD_CHARS: Final = 2500  # characters in which a text prints the year of its publication
YEARS_APART: Final = 3  # years between two editions; a preprint is two years older at most
NOTICE_OPENING_CHARS: Final = 600  # characters in which a correction says that it is one

# Of a body that is about its abstract (`.agreement`), measured on 305 recorded papers.
BODY_MIN_WORDS: Final = 500  # words of a body that is compared
ABSTRACT_MIN_PAIRS: Final = 20  # pairs of content words in the abstract
# of these pairs: refused; doubted, or refused beside few words of abstract or title; refused beside
# very few words of the title; doubted beside few long words
BODY_PAIRS_SHARES: Final = (0.05, 0.11, 0.15, 0.17)
# of the abstract's long words: few enough to doubt, to refuse; papers have 0.52 at least
BODY_LONG_WORDS_SHARES: Final = (0.5, 0.6)
LONG_MIN_LETTERS: Final = 6  # letters of a long word of an abstract
SCRAPED_ABSTRACT_SHARE: Final = 0.9  # of a text's abstract in a record's: the page was recorded
TITLE_MIN_LONG_WORDS: Final = 5  # long words of a title that stands for an abstract
# of these words: doubted without an abstract (250 recorded papers have half); very few, few
BODY_TITLE_WORDS_SHARES: Final = (0.4, 0.55, 0.75)
CONTENT_MIN_LETTERS: Final = 4  # letters of a content word
REPEATED_PARAGRAPH_SHARE: Final = 0.3  # of a paragraph's four-word runs: it is the abstract's own
SMALL_MAX_LETTERS: Final = 3  # letters of the words that hold a language together
SMALL_WORDS_COMPARED: Final = 8  # the commonest of them in an abstract or title
SMALL_WORDS_MIN: Final = 3  # different ones in a title that shows its language
# the commonest in the body; of the 8, English has 4 at least there, a translation 3 at most
SMALL_WORDS_OF_BODY: Final = 16
SMALL_WORDS_SHARE: Final = 0.045  # of the body's words; English in English has 0.076 at least

# Of words that are not language (`.language`). Measured on 259 whole JATS articles, also cut to
# 150 to 4,000 long words, and on technical books in Turkish, Chinese and Japanese.
WORDS_SAMPLE: Final = 4000  # long words
# (long words, share of them that occur once); the highest share of language is .57, .65, .71, .75
GARBAGE_ONCE_SHARES: Final = ((1000, 0.62), (600, 0.68), (400, 0.73), (250, 0.77))
MISREAD_MIN_USES: Final = 3  # uses that make a word a frequent one
# of the long words; .005 in English, .013 in Turkish, .027 with a letter in seventy misread
MISREAD_WORDS_SHARE: Final = 0.016
# of the letters; below .0005 in every JATS article
UNKNOWN_LETTERS_SHARES: Final = (0.01, 0.05)

# Of texts about a paper (`.commentary`). Measured on the lab's whole papers that have an abstract
# and on the real pages (2.9 at most), and on its summaries by programs (19 at least).
COMMENTARY_MENTIONS_PER_1000: Final = (6, 12)  # mentions in 1,000 words
COMMENTARY_MIN_MENTIONS: Final = 6
COMMENTARY_SHARE: Final = 0.5  # of the words under headings
SAID_MIN: Final = 3  # quotations with who said them
SAID_PER_1000: Final = 1  # in 1,000 words: 469 papers have 0.2 at most, news 4 at least
POINT_MAX_WORDS: Final = 30  # words of an item of a list without a full stop
POINTS_SHARE: Final = 0.25  # of the body's words: 99 % of 469 papers have 0.12 at most

# Of other copies and of the journal (`.comparison`). Measured on 20 recorded PDFs and pages beside
# their XML, and on the seven and six recorded papers of two journals.
COPY_WORDS_SHARE: Final = 0.65  # of another copy's words; media of one text differ by .70 to 1.42
COPY_MIN_SECTIONS: Final = 2  # headings with text that make a text one with headings
JOURNAL_MIN_PAPERS: Final = 8  # papers of the journal on the shelf
JOURNAL_SHORTEST_SHARE: Final = 0.6  # of the words of the shortest of these; recorded: .80 and .88
