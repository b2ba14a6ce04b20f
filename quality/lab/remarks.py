"""Prose about a paper that is not the paper: remarks, praise, questions, in its own terms."""

from __future__ import annotations

import random
import re
from collections import Counter

from quality.lab.manuscript import Manuscript

_COMMON_WORDS = """
    about above after also among because been before being between both cannot could during each
    either from further have having here however into its itself many more most much only other
    over same several should since some such than that their them then there these they this
    those through under until using very were what when where whether which while with within
    without would results study studies methods conclusions background different significantly
    used based present showed shown found
"""
_COMMON = frozenset(_COMMON_WORDS.split())

REVIEWS = (
    "The authors should explain why {a} was not compared with {b}.",
    "I am not convinced that {a} follows from the data on {b}; a further control is needed.",
    "Please state how many samples entered the analysis of {a} and how many were left out.",
    "The statistics behind the statement on {a} are not described well enough to be repeated.",
    "Could the effect on {a} be explained by {b} alone? The text does not discuss this.",
    "The introduction is long and would gain from being cut by a third, in particular on {a}.",
    "The quality of the figure showing {a} is poor, and its axes lack units.",
    "It would help to see the raw values for {a} in a supplementary file.",
    "I appreciate the work that went into {a}, but the conclusions reach too far.",
    "The language needs attention: there are several unclear sentences on {a} and {b}.",
    "A recent work on {b} reported the opposite and should be cited and discussed.",
    "Minor: the abbreviation for {a} is used before it is defined.",
    "Was the person who scored {a} aware of the groups? If so, this is a serious limitation.",
    "I recommend major revision; I would be glad to see the work on {a} again.",
    "The revised version answers my questions on {a}, and I have no further comments.",
    "In my view the part on {b} belongs into a separate communication.",
    "The sample of {a} comes from a single site, which limits how far one may generalise.",
    "The limitations paragraph should mention that {b} was not measured directly.",
)
ANSWERS = (
    "We thank the reviewer and have added a sentence on {a} to the revised text.",
    "We agree that {a} might be confounded by {b}, and now say so in the last section.",
    "We have repeated the analysis of {a} without the outliers; the outcome is unchanged.",
    "The figure on {a} was redrawn at a higher resolution, with units at both axes.",
    "Unfortunately we could not obtain more material on {b}, and hope the editor understands.",
    "The typographical errors have been corrected throughout.",
    "We respectfully disagree: {a} was never meant to stand for {b}.",
    "The missing works on {a} are now cited where the reviewer suggested.",
    "Following this suggestion, the title was shortened and {b} was moved to the supplement.",
    "The numbers for {a} given in the first submission were those before normalisation.",
)
NEWS = (
    "Scientists have taken a fresh look at {a}, and what they saw surprised them.",
    "“We did not expect {a} to matter that much,” says the first author of the study.",
    "The work may one day help people who are affected by {b}, the team hopes.",
    "For years, experts had suspected a link between {a} and {b}; now there is evidence for it.",
    "The findings appeared this week in a peer-reviewed journal.",
    "“This is an elegant piece of work,” says a colleague who was not involved in the research.",
    "Until now, little was known about {a} outside of a handful of laboratories.",
    "Next, the group plans to look at {b} in larger numbers and over a longer time.",
    "Funding came from national agencies and a private foundation.",
    "For further information, please contact the press office of the university.",
    "Why should we care about {a}? Because it tells something about {b}, and so about us.",
    "The idea was born over coffee, when two of the team were arguing about {a}.",
    "Critics note that {a} alone does not prove anything, and that {b} must be looked at too.",
    "Imagine a library in which all books on {a} stood in the wrong place: that is roughly it.",
    "The researchers combined records of {a} with measurements of {b}.",
    "Whether the same holds true elsewhere remains to be seen.",
)
COMMENTS = (
    "Great paper! Has anybody tried this with {a}?", "I think the part on {b} is overstated.",
    "Thanks for sharing. Does the code for {a} run on current versions?",
    "We saw something similar with {a} two years ago, but never published it.",
    "Could somebody explain what is meant by {b} here?", "Interesting, following this thread.",
    "The link to the data on {a} seems to be broken, at least for me.",
    "As a practitioner I would add that {a} is hardly ever seen without {b}.",
    "I do not have access; would one of the authors send me a copy, please?",
    "There is a typo in the legend: it should say {a}.", "Nice work, congratulations to the team!",
    "I am a bit sceptical about {b}: the sample is small and the effect is large.",
    "See also the discussion of {a} on the other site.", "+1", "Agreed, and well put.",
    "My students presented this in our journal club and liked the section about {a}.",
)  # fmt: skip
CLAIMS = (
    "A method comprising the steps of providing {a} and contacting it with {b}.",
    "The method of claim {n}, wherein {a} is obtained from a subject.",
    "The composition of claim {n}, further comprising {b} in an effective amount.",
    "In one embodiment, {a} is provided in the form of a kit together with instructions for use.",
    "As used herein, the term “{a}” includes any functional equivalent thereof.",
    "It is to be understood that the invention is not limited to {a} as described.",
    "The kit of claim {n}, wherein said {b} is lyophilised.",
    "A system for determining {a}, comprising a processor and a memory that holds instructions.",
    "In a further aspect, the disclosure relates to the use of {b} for treating a disorder.",
)
OPINIONS = (
    "In this issue, the authors return to an old question: how are {a} and {b} related?",
    "Their answer is welcome, because {a} has long been treated as a matter of taste.",
    "What is new is not {a} itself but the care with which {b} was excluded.",
    "One may ask whether {a} would have been seen at all had {b} been chosen otherwise.",
    "The field has moved between enthusiasm for {a} and neglect of it.",
    "It remains to be shown that {b} is cause rather than consequence.",
    "Readers who work on {a} will find much to think about here.",
    "For the clinic, little changes for now; for the bench, a door has been opened.",
    "I would have liked to learn more about {b}, which receives only a few lines.",
    "Taken together with earlier work on {a}, the report makes a simple view untenable.",
)
RULES = (
    "You may not use any robot, spider or other automatic device to access the site.",
    "The publisher may change these conditions at any time without notice.",
    "Access is granted to authorised users of subscribing institutions only.",
    "Systematic downloading of content leads to suspension of access for the whole institution.",
    "We process personal data on the basis of our legitimate interest.",
    "You have the right to lodge a complaint with a supervisory authority.",
    "These terms are governed by the laws of the country in which the publisher is established.",
    "To the extent permitted by law, we exclude all liability for indirect damage.",
    "Cookies expire after the times given in the table below.",
    "A copy of the licence is available upon request from the address given in the imprint.",
    "Authorised users may print single articles for private study.",
    "The service is provided as is, and we do not promise that it will be free of interruptions.",
    "Our service is currently being updated; we expect to be back within a few hours.",
    "We apologise for the inconvenience and thank you for your patience.",
    "If you see this page repeatedly, clear the cache of your browser or contact the help desk.",
    "Your address has sent an unusual number of requests during the last minutes.",
    "Please quote the reference number below when you write to us.",
    "Content may be mined under a separate agreement; please write to the licensing team.",
    "Minors need the consent of a parent or guardian to create an account.",
    "Trademarks shown on this site belong to their respective owners.",
)


def terms(paper: Manuscript) -> list[str]:
    """Words and pairs of words that the paper is about."""
    text = f"{paper.title}. {paper.abstract_text} {' '.join(paper.prose()[:3])}".lower()
    words = re.findall(r"[a-z][a-z-]{3,}", text)
    pairs = re.findall(r"(?=\b([a-z][a-z-]{3,} [a-z][a-z-]{4,})\b)", text)
    told = Counter(word for word in words if word not in _COMMON and len(word) > 5)
    told.update(pair for pair in pairs if not set(pair.split()) & _COMMON)
    return [term for term, _ in told.most_common(24)] or ["the samples", "the controls"]


def about(
    paper: Manuscript, dice: random.Random, templates: tuple[str, ...], number: int
) -> list[str]:
    """So many sentences; none twice as long as there are others."""
    known, out = terms(paper), []
    while len(out) < number:
        for template in dice.sample(templates, min(len(templates), number - len(out))):
            a, b = dice.choice(known), dice.choice(known)
            said = template.format(a=a, b=b, n=dice.randint(1, 9))
            out.append(said[:1].upper() + said[1:])
    return out


def paragraphs(said: list[str], dice: random.Random) -> list[str]:
    """The sentences in paragraphs of one to five."""
    out, at = [], 0
    while at < len(said):
        step = dice.randint(1, 5)
        out.append(" ".join(said[at : at + step]))
        at += step
    return out
