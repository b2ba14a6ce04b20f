"""Authorize callers over HTTP: signed tokens, their scopes, and the metadata that clients need.

Papershelf is an OAuth 2.1 resource server (MCP 2026-07-28, Authorization): it checks JSON Web
Tokens (RFC 7519, with the care of RFC 8725), never issues them to the network, and publishes its
metadata (RFC 9728). Keys are a shared secret (HS256) or an identity provider's (JWKS). Two scopes:
`READ_SCOPE` to search, read and list; `DOWNLOAD_SCOPE` for what adds files to the shelf.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from fastmcp.server.auth import AccessToken, AuthProvider, require_scopes
from fastmcp.server.auth.providers.jwt import JWTVerifier
from fastmcp.utilities.auth import decode_jwt_header
from mcp.server.auth.routes import build_resource_metadata_url
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ..errors import BadRequest, NotConfigured
from ..settings import Settings

if TYPE_CHECKING:
    from fastmcp.tools import FunctionTool

READ_SCOPE, DOWNLOAD_SCOPE = "read", "download"
ENDPOINT_PATH = "/mcp"
SECRET_MIN_BYTES = 32
"""Bytes; RFC 7518 asks HS256 for a key as long as its hash."""

# Issuer and audience of tokens that nobody but us makes and takes.
_OWN_ISSUER = "papershelf"
_SHARED_KEY_ALGORITHM = "HS256"
_PUBLIC_KEY_ALGORITHMS = ("RS256", "ES256", "PS256", "EdDSA")
# Clocks of two machines differ by seconds, not by minutes.
_LEEWAY_S = 30


class TokenGate(AuthProvider):
    """Accepts valid signed tokens for this server, and tells clients where to get one.

    Parameters
    ----------
    verifiers
        By the one algorithm each of them takes.
    resource
        The public address of the endpoint.
    issuer
        Who signs; published as authorization server when it is an address.
    """

    def __init__(self, verifiers: Mapping[str, JWTVerifier], resource: str, issuer: str) -> None:
        base = resource.removesuffix(ENDPOINT_PATH)
        super().__init__(base_url=base, required_scopes=[READ_SCOPE])
        self._verifiers = verifiers
        self._issuer = issuer
        self.writing_tools: set[str] = set()
        """The names of the tools that take `DOWNLOAD_SCOPE`."""

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the access that a token grants, or None if it is not valid."""
        try:
            verifier = self._verifiers.get(_read_token_algorithm(token))
            access = await verifier.verify_token(token) if verifier else None
        except (ValueError, OverflowError, RecursionError):  # no token, but built to look like one
            return None
        return access if access and _is_within_validity(access.claims) else None

    def require_scope_for(self, tool: FunctionTool) -> FunctionTool:
        """Return *tool*; unless it only reads, only tokens with `DOWNLOAD_SCOPE` see it."""
        if tool.annotations and tool.annotations.read_only_hint:
            return tool
        self.writing_tools.add(tool.name)
        return tool.model_copy(update={"auth": require_scopes(DOWNLOAD_SCOPE)})

    def build_challenge(self, error: str, description: str) -> str:
        """Return the ``WWW-Authenticate`` header for a token that lacks a scope (RFC 6750)."""
        parameters = {
            "error": error,
            "error_description": description,
            "scope": " ".join(self.get_challenge_scopes()),
        }
        if resource := self._get_resource_url(ENDPOINT_PATH):
            parameters["resource_metadata"] = str(build_resource_metadata_url(resource))
        return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in parameters.items())

    def get_challenge_scopes(self, required_scopes: list[str] | None = None) -> list[str]:
        """Return both scopes, so that a client asks for consent only once."""
        return [READ_SCOPE, DOWNLOAD_SCOPE]

    def get_routes(self, mcp_path: str | None = None) -> list[Route]:
        """Return the route of the metadata, at the path that RFC 9728 requires."""
        self.set_mcp_path(mcp_path)
        resource = str(self._get_resource_url(mcp_path))
        metadata: dict[str, Any] = {
            "resource": resource,
            "resource_name": "Papershelf",
            "scopes_supported": [READ_SCOPE, DOWNLOAD_SCOPE],
            "bearer_methods_supported": ["header"],
        }
        if _is_address(self._issuer):
            metadata["authorization_servers"] = [self._issuer]

        async def show_metadata(_: Request) -> Response:
            return JSONResponse(metadata, headers={"cache-control": "max-age=3600"})

        path = f"/.well-known/oauth-protected-resource{urlsplit(resource).path}"
        return [Route(path, show_metadata, methods=["GET"])]


def build_token_gate(settings: Settings, own_address: str) -> TokenGate:
    """Make the gate that *settings* describe.

    Parameters
    ----------
    settings
        ``MCP_AUTH_SECRET_KEY``, or ``MCP_AUTH_JWKS_URI`` with issuer and audience.
    own_address
        Of the endpoint, published when the audience is no address.

    Raises
    ------
    NotConfigured
        There is no key to check tokens with, or half of what is needed.
    BadRequest
        The secret can be guessed, or there are two kinds of keys.
    """
    audience = settings.mcp_auth_audience or _OWN_ISSUER
    issuer = settings.mcp_auth_issuer or _OWN_ISSUER
    common: dict[str, Any] = {"issuer": issuer, "audience": audience}
    resource = audience.rstrip("/") if _is_address(audience) else own_address
    if settings.mcp_auth_jwks_uri:
        _require_issuer_and_audience(settings)
        uri = settings.mcp_auth_jwks_uri
        verifiers = {
            name: JWTVerifier(jwks_uri=uri, algorithm=name, **common)
            for name in _PUBLIC_KEY_ALGORITHMS
        }
    else:
        secret = _get_signing_secret(settings)
        verifiers = {
            _SHARED_KEY_ALGORITHM: JWTVerifier(
                public_key=secret, algorithm=_SHARED_KEY_ALGORITHM, **common
            )
        }
    return TokenGate(verifiers, resource, issuer)


def make_token(settings: Settings, subject: str, scopes: Sequence[str], days: float) -> str:
    """Return a token for *subject*, signed with the shared secret of *settings*."""
    from joserfc import jwt
    from joserfc.jwk import OctKey

    now = int(time.time())
    claims = {
        "iss": settings.mcp_auth_issuer or _OWN_ISSUER,
        "aud": settings.mcp_auth_audience or _OWN_ISSUER,
        "sub": subject,
        "scope": " ".join(scopes),
        "iat": now,
        "nbf": now,
        "exp": now + int(days * 86_400),
    }
    return jwt.encode(
        {"alg": _SHARED_KEY_ALGORITHM}, claims, OctKey.import_key(_get_signing_secret(settings))
    )


def build_default_address(settings: Settings) -> str:
    """Return the default address of the endpoint."""
    host = settings.mcp_http_host
    host = f"[{host}]" if ":" in host else host
    return f"http://{host}:{settings.mcp_http_port}{ENDPOINT_PATH}"


def _get_signing_secret(settings: Settings) -> str:
    """Return the key that signs tokens; raise if it is missing or weak."""
    secret = settings.key("mcp_auth_secret_key")
    if not secret:
        msg = "Access over HTTP needs a key to check tokens with, and none is set."
        hint = (
            "Set MCP_AUTH_SECRET_KEY to 32 random bytes or more (openssl rand -base64 48), or "
            "MCP_AUTH_JWKS_URI, MCP_AUTH_ISSUER and MCP_AUTH_AUDIENCE to your identity provider's."
        )
        raise NotConfigured(msg, hint)
    if len(secret.encode()) < SECRET_MIN_BYTES or len(set(secret)) < SECRET_MIN_BYTES // 4:
        msg = f"MCP_AUTH_SECRET_KEY can be guessed: it must have {SECRET_MIN_BYTES} random bytes."
        raise BadRequest(msg, "Make one: openssl rand -base64 48.")
    return secret


def _require_issuer_and_audience(settings: Settings) -> None:
    if settings.mcp_auth_secret_key:
        msg = "MCP_AUTH_SECRET_KEY and MCP_AUTH_JWKS_URI are both set."
        raise BadRequest(msg, "Keep only one of them.")
    # A provider signs for all its clients: without these, each of them could come in.
    for name in ("mcp_auth_issuer", "mcp_auth_audience"):
        if not getattr(settings, name):
            msg = f"{name.upper()} is not set, and MCP_AUTH_JWKS_URI is."
            raise NotConfigured(msg, "Set it to what your provider writes into tokens for us.")


def _read_token_algorithm(token: str) -> str:
    """Return the algorithm in a token's header, to choose among the known algorithms."""
    header: object = decode_jwt_header(token)
    named = header.get("alg") if isinstance(header, dict) else None
    return named if isinstance(named, str) else ""


def _is_within_validity(claims: Mapping[str, Any]) -> bool:
    """Return whether a token is valid now; a token without an expiry is rejected."""
    now = time.time()
    ends, begins = claims.get("exp"), claims.get("nbf", 0)
    if not isinstance(ends, int | float) or not isinstance(begins, int | float):
        return False
    return ends > now and begins <= now + _LEEWAY_S


def _is_address(text: str) -> bool:
    return text.startswith(("https://", "http://"))
