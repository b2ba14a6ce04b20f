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
    neighbor/neighbour vapor/vapour odor/odour harbor/harbour rumor/rumour armor/armour
    honor/honour endeavor/endeavour fervor/fervour vigor$/vigour$ rigor$/rigour$ savor/savour
    fiber/fibre center/centre liter/litre caliber/calibre meager/meagre somber/sombre luster/lustre
    specter/spectre theater/theatre goiter/goitre ^meter/^metre imeter/imetre
    ^anem/^anaem edema/oedema estrogen/oestrogen estradiol/oestradiol estru/oestru estrous/oestrous
    esophag/oesophag pediatri/paediatri pedodonti/paedodonti pedophil/paedophil orthopedi/orthopaedi
    fetal/foetal fetus/foetus leukem/leukaem glycem/glycaem uremi/uraemi emia$/aemia$ emias$/aemias$
    emic$/aemic$ bacterem/bacteraem hemo/haemo hema/haema ^hemi/^haemi hemangi/haemangi
    hemorrhag/haemorrhag rrhea/rrhoea rrheic/rrhoeic gynec/gynaec cecum/caecum cecal/caecal
    cecostom/caecostom feces/faeces fecal/faecal celiac/coeliac anesthe/anaesthe esthesi/aesthesi
    etiolog/aetiolog sulf/sulph aluminum/aluminium pnea$/pnoea$ pneic$/pnoeic$ ameb/amoeb
    homeosta/homoeosta homeopath/homoeopath paleo/palaeo archeo/archaeo
    chimera/chimaera chimeric/chimaeric defecat/defaecat
    hyperem/hyperaem kinesthe/kinaesthe levo/laevo maneuver/manoeuvre
    medieval/mediaeval phenolog/phaenolog
    pyem/pyaem cesarean/caesarean cesium/caesium spirochet/spirochaet synesthe/synaesthe
    toxem/toxaem hypoxem/hypoxaem lipidem/lipidaem acidem/acidaem septicem/septicaem
    labeled/labelled labeling/labelling modeled/modelled modeling/modelling channeled/channelled
    traveled/travelled traveling/travelling traveler/traveller signaled/signalled
    signaling/signalling canceled/cancelled canceling/cancelling tunneled/tunnelled
    fueled/fuelled counseling/counselling counselor/counsellor leveled/levelled dialed/dialled
    marveled/marvelled enrollment/enrolment fulfill$/fulfil$ skillful/skilful installment/instalment
    program$/programme$ analog$/analogue$ catalog$/catalogue$ dialog$/dialogue$ homolog$/homologue$
    defense/defence offense/offence pretense/pretence license/licence
    mold/mould smolder/smoulder plow/plough gray/grey aging$/ageing$ judgment/judgement
    acknowledgment/acknowledgement artifact/artefact
    skeptic/sceptic connexion/connection inflexion/inflection
    hydrolyzat/hydrolysat
"""
_PARTS = tuple(pair.split("/") for pair in _PAIRS.split())
_VERB = re.compile(
    r"(?P<stem>\w{3,}i)(?P<letter>[sz])(?P<end>e|ed|es|er|ers|ing|ings|able|ability|ation|ations)$"
)
_BREAKING = re.compile(r"(?P<stem>\w{2,}ly)(?P<letter>[sz])(?P<end>e|ed|es|er|ers|ing|able)$")
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
