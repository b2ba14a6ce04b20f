"""What a certificate says of itself, for the person who has to find out who issued it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ..system.plain_text import one_line


@dataclass(frozen=True, slots=True)
class Certificate:
    """Whom a site's certificate is made out to, who issued it, and until when; in words."""

    subject: str
    issuer: str
    until: datetime

    @classmethod
    def parse(cls, der: bytes) -> Certificate:
        """Read a certificate in DER form.

        Raises
        ------
        ValueError
            It is none.
        """
        from cryptography import x509

        read = x509.load_der_x509_certificate(der)
        return cls(_named(read.subject), _named(read.issuer), read.not_valid_after_utc)


def _named(name: object) -> str:
    """The names a person would know: of the authority, then of its organization."""
    from cryptography.x509 import Name
    from cryptography.x509.oid import NameOID

    assert isinstance(name, Name)
    said = [
        one_line(str(attribute.value))[:100]
        for oid in (NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME)
        for attribute in name.get_attributes_for_oid(oid)
    ]
    return ", ".join(dict.fromkeys(said)) or "somebody without a name"
