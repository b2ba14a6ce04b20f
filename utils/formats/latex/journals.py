r"""Journals by the commands that astronomers write for them (``\apj``), as AASTeX prints them.

https://journals.aas.org/aastexguide/#abbreviations lists them; ADS exports them in every entry.
"""

from __future__ import annotations

from typing import Final

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
