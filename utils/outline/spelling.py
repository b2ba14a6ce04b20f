"""Find the British spelling of an American word, and the American spelling of a British one.

Indexes keep the words of their texts. A question is asked in both spellings instead, so that
"tumour" also finds "tumor", and "hemoglobin" finds "haemoglobin".
"""

from __future__ import annotations

import re
from functools import lru_cache

_MIN_LETTERS = 5
# The American spelling, and the British one. Parts of words, with "^" at the beginning of a word.
_PAIRS = """
    tumor/tumour color/colour behavior/behaviour favor/favour labor/labour humor/humour
    neighbor/neighbour vapor/vapour odor/odour harbor/harbour rumor/rumour fiber/fibre
    center/centre liter/litre ^meter/^metre caliber/calibre anem/anaem edema/oedema
    estrogen/oestrogen estradiol/oestradiol esophag/oesophag pediatri/paediatri
    orthopedi/orthopaedi fetal/foetal fetus/foetus diarrhea/diarrhoea leukem/leukaem
    glycem/glycaem uremi/uraemi septicem/septicaem bacterem/bacteraem ischem/ischaem
    hypoxem/hypoxaem toxem/toxaem acidem/acidaem lipidem/lipidaem hemo/haemo hema/haema
    gynec/gynaec cecum/caecum cecal/caecal feces/faeces fecal/faecal celiac/coeliac
    anesthe/anaesthe etiolog/aetiolog sulf/sulph aluminum/aluminium dyspnea/dyspnoea
    apnea/apnoea gonorrhea/gonorrhoea ameba/amoeba homeosta/homoeosta labeled/labelled
    labeling/labelling modeled/modelled modeling/modelling program$/programme$
    analog$/analogue$ catalog$/catalogue$ defense/defence license/licence mold/mould
"""
_PARTS = tuple(pair.split("/") for pair in _PAIRS.split())
_VERB = re.compile(r"(?P<stem>\w{4,}i)(?P<letter>[sz])(?P<end>e|ed|es|er|ers|ing|ation|ations)$")
_BREAKING = re.compile(r"(?P<stem>\w{2,}ly)(?P<letter>[sz])(?P<end>e|ed|es|er|ers|ing)$")
_OTHER_LETTER = {"s": "z", "z": "s"}


@lru_cache(maxsize=50_000)
def find_other_spellings(word: str) -> tuple[str, ...]:
    """Return a lower-case word's spellings in the other variety of English; usually none.

    >>> find_other_spellings("tumours"), find_other_spellings("hemoglobin")
    (('tumors',), ('haemoglobin',))
    >>> find_other_spellings("randomised"), find_other_spellings("analyzed")
    (('randomized',), ('analysed',))
    >>> find_other_spellings("noise"), find_other_spellings("cell")
    ((), ())
    """
    if len(word) < _MIN_LETTERS or not word.isascii() or not word.isalpha():
        return ()
    found = _list_respelled_variants(word)
    verb = _BREAKING.fullmatch(word) or _VERB.fullmatch(word)
    if verb:
        found.append(f"{verb['stem']}{_OTHER_LETTER[verb['letter']]}{verb['end']}")
    return tuple(dict.fromkeys(found))


def _list_respelled_variants(word: str) -> list[str]:
    """Return variants of the word, each with one part in the other variety's spelling."""
    marked = f"^{word}$"
    found = []
    for american, british in _PARTS:
        if british in marked:
            found.append(marked.replace(british, american).strip("^$"))
        elif american in marked:
            found.append(marked.replace(american, british).strip("^$"))
    return found
