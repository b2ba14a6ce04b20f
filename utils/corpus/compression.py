"""Compress the texts that a corpus keeps in SQLite.

A record as JSON has some 2,000 characters, most of them in words that other records have, too:
names of fields, types of publications, frequent headings. Deflate (RFC 1951) finds repetitions in
what it has read, and would have to read those words first in each record. So every text is
compressed as if it followed `_PREFIX`: records take 740 bytes instead of 940. Blocks of several
records would be smaller, but one record could not be read or replaced alone.
"""

from __future__ import annotations

import zlib

_PREFIX = (
    b'"collective":"Study Group","orcid":"0000-0002-","suffix":"Jr"}],"keywords":["],'
    b'"vernacular_title":"","other_abstracts":[["","notices":[{"kind":"retraction","reference":"'
    b'{"kind":"erratum","reference":"{"kind":"comment","reference":" ","pmid":"License":"'
    b"BACKGROUND: OBJECTIVE: METHODS: RESULTS: CONCLUSIONS: Objective Background Conclusion The "
    b"aim of this study was to investigate the effects of associated with significantly compared "
    b"patients were treated with between the treatment of in vitro increased the presence of "
    b'"Hospital, and Technology, Center, Institute of Medicine, School of University of Medical '
    b"Sciences, China. USA. Japan. Italy. Germany. France. UK. Korea. Electronic address: "
    b'@gmail.com.Child",'
    b'"Adolescent","Young Adult","Aged, 80 and over","Aged","Middle Aged","Adult","Rats",'
    b'"Mice","Cattle","Pregnancy","Infant, Newborn","Time Factors","Risk Factors","In Vitro '
    b'Techniques","Kinetics","Methods","Treatment Outcome","Retrospective Studies","Prospective '
    b'Studies","*Dose-Response Relationship, Drug/metabolism","blood","/*drug effects","/*analysis'
    b'"/therapeutic use","/*therapy/pharmacology","/complications","/diagnosis","Female","Humans",'
    b'"Male","]"mesh":["Animals","Humans","publication_types":["Comparative Study","Letter",'
    b'"Editorial","Randomized Controlled Trial","Clinical Trial","Systematic Review","English '
    b'Abstract","Case Reports","Review","Journal Article","Research Support, U.S. Gov\'t, Non-'
    b'P.H.S.","Research Support, N.I.H., Extramural","Research Support, Non-U.S. Gov\'t",'
    b'"Research Support, U.S. Gov\'t, P.H.S."],"mesh":["Journal of the The American '
    b'{"ids":{"doi":"10.1016/j.10.1007/s10.3390/10.1002/10.1021/acs.10.3389/f","pmid":"3","pmcid":'
    b'"PMC7"},"title":"[","abstract":"The ","authors":[{"family":"Wang","given":"A","initials":"A",'
    b'"affiliations":["Department of "]},{"family":"Li","given":"J","initials":"J"},{"family":'
    b'"Zhang","given":"M","initials":"M"}],"journal":"J",'
    b'"journal_abbreviation":"J ","issn":"1","volume":'
    b'"1","issue":"1","pages":"1","published":"2020-01","entered":"20-0","languages":["eng"],'
    b'"publication_types":["Journal Article"],"keywords":["],"mesh":["],"reference_count":"revised"'
    b':"2021-0'
)
"""Never changed: what was compressed behind it can be read behind it only."""
_MARK = b"\x01"  # of this prefix; a zlib stream, which older versions stored, begins with an x
_WINDOW_BITS, _MEMORY_LEVEL = -14, 7  # of 16 kB: more is slower to set up for a short text
_compressor = zlib.compressobj(
    3, zlib.DEFLATED, _WINDOW_BITS, _MEMORY_LEVEL, zlib.Z_DEFAULT_STRATEGY, _PREFIX
)


def compress_text(text: str) -> bytes:
    """Return a text in compressed form."""
    stream = _compressor.copy()
    return b"".join((_MARK, stream.compress(text.encode()), stream.flush()))


def decompress_text(stored: bytes) -> str:
    """Return the text that `compress_text` compressed, or an older version with zlib alone."""
    if not stored.startswith(_MARK):
        return zlib.decompress(stored).decode()
    stream = zlib.decompressobj(_WINDOW_BITS, _PREFIX)
    return (stream.decompress(memoryview(stored)[1:]) + stream.flush()).decode()
