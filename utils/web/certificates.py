"""Subject, issuer and expiry of a certificate, for a person who has to find out who issued it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ..system.plain_text import one_line


@dataclass(frozen=True, slots=True)
class Certificate:
    """A site's certificate: subject and issuer as text, and when it expires."""

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

        parsed = x509.load_der_x509_certificate(der)
        return cls(
            _readable_name(parsed.subject),
            _readable_name(parsed.issuer),
            parsed.not_valid_after_utc,
        )


def _readable_name(name: object) -> str:
    """Common name and organization."""
    from cryptography.x509 import Name
    from cryptography.x509.oid import NameOID

    assert isinstance(name, Name)
    names = [
        one_line(str(attribute.value))[:100]
        for oid in (NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME)
        for attribute in name.get_attributes_for_oid(oid)
    ]
    return ", ".join(dict.fromkeys(names)) or "somebody without a name"
