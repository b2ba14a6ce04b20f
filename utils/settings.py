"""Read the environment and the settings files; no other module does.

Each setting has its default and its meaning here; the reference table in ``TECHNICAL_REFERENCE.md``
is made from these fields. If a setting has several values, the first of these wins: the
environment; ``.env`` next to ``server.py`` (in the current folder, for an installed package); the
user's settings file, `find_user_settings_file`. A secret can be in a file of its own, whose path is
the value of ``NAME_FILE``, as container platforms pass secrets. A blank value, or one that a
desktop host did not fill in (``${user_config.email}``), counts as unset.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from platformdirs import user_cache_path, user_config_path
from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    create_model,
    field_validator,
)
from pydantic.fields import FieldInfo

from .command_line import IN_CHECKOUT, ROOT, command_line
from .errors import BadRequest, NotConfigured
from .model.site import Key
from .model.site_list import SiteKeys
from .model.sites import KEYS, SITES, TEXT_SOURCES
from .plugins import list_plugins
from .system.nearest import suggest_nearest_name
from .system.process import get_version

ENV_FILE: Path | None = ROOT / ".env" if IN_CHECKOUT else Path(".env")
TOOLSETS: dict[str, tuple[str, ...]] = {
    "core": (".mcp.core", ".mcp.many_papers", ".mcp.quotations", ".mcp.harvests"),
    "pubmed": (".mcp.pubmed",),
    "literature": (".mcp.literature",),
    "objects": (".mcp.objects",),
}
"""The modules of each toolset; toolsets of plugins follow."""
for _plugin in list_plugins():
    for _toolset, _modules in _plugin.toolsets.items():
        TOOLSETS.setdefault(_toolset, _modules)
_LOWER_CASE_FIELDS = {
    *("mcp_log_level", "mcp_transport_type", "mcp_tool_names", "mcp_delivery"),
    *("embeddings_provider", "vector_store"),
}
_EMAIL_PATTERN = re.compile(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)+")
# Unpaywall answers 422 to these addresses, and NCBI could not reach the user.
_PLACEHOLDER_EMAIL_PATTERN = re.compile(
    r"(@|\.)example(\.(com|org|net))?$|^(you|your|user|name|email)@", re.I
)


def _split_list(value: object) -> object:
    """Parse ``a, b`` as a tuple; leave other values to pydantic."""
    if not isinstance(value, str):
        return value
    return tuple(part.strip() for part in value.split(",") if part.strip())


def _check_url(value: str) -> str:
    """Reject a value that is not an http(s) address; drop a trailing slash."""
    if not re.match(r"https?://[^/\s]+", value):
        msg = "must start with http:// or https://"
        raise ValueError(msg)
    return value.rstrip("/")


def _clean_value(name: str, value: object) -> object:
    """Strip a value; blank values and ``${user_config.x}`` become unset."""
    if not isinstance(value, str):
        return value
    text = value.strip().lower() if name in _LOWER_CASE_FIELDS else value.strip()
    return _UNSET if not text or re.match(r"\$\{[^{}]*\}", text) else text


def _make_url_field(default: str, meaning: str) -> Any:
    """Return the field of a service's address."""
    return Field(default, description=f"{meaning} (a mirror, or the stand-in of the tests)")


_UNSET = object()
Url = Annotated[str, AfterValidator(_check_url)]
NameList = Annotated[tuple[str, ...], BeforeValidator(_split_list)]
Secret = str | SecretStr | None
Folder = str | Path


_FOLDER_FIELDS = (
    *("papers_dir", "papers_pace_dir", "papers_mirror_dir"),
    *("papers_ca_bundle", "logs_dir"),
)


def _group_by_field(
    fields: Mapping[str, FieldInfo], variables: Mapping[str, str | None]
) -> dict[str, str]:
    """Return the values of the variables that are set, by field name.

    If a variable is set in upper and lower case, the lower case wins, as for curl.
    """
    filled = {name: value for name, value in variables.items() if value}
    folded = {name.lower(): value for name, value in filled.items()} | filled
    return {
        field: folded[name.lower()]
        for field, about in fields.items()
        for name in reversed(_list_variables(field, about))  # the first name wins
        if name.lower() in folded
    }


def find_user_settings_file() -> Path | None:
    """Return the path of the user's settings file; None for a user without a home folder.

    ``~/.config/papershelf/settings.env`` on Linux, under ``~/Library/Application Support`` on
    macOS, under ``%LOCALAPPDATA%`` on Windows. The file has the form of ``.env``.
    """
    try:
        folder = user_config_path("papershelf", appauthor=False)
    except RuntimeError:
        return None
    return folder / "settings.env" if folder.is_absolute() else None


def _read_settings_file(fields: Mapping[str, FieldInfo], file: Path | None) -> dict[str, str]:
    """Return the values of a settings file; relative folders are relative to the file."""
    if file is None or not os.access(file, os.R_OK) or not file.is_file():
        return {}
    from dotenv import dotenv_values

    values = _group_by_field(fields, dotenv_values(file, encoding="utf-8"))
    relative = {
        name: str(file.parent.absolute() / values[name])
        for name in _FOLDER_FIELDS
        if not values.get(name, "~").lstrip().startswith(("~", "$"))
    }
    return values | relative


def _read_secret_files(
    fields: Mapping[str, FieldInfo], environment: Mapping[str, str]
) -> dict[str, str]:
    """Return the secrets whose files are named by ``NAME_FILE``, by the names of the fields.

    Raises
    ------
    NotConfigured
        A file that is named cannot be read.
    """
    named = {
        key.upper(): path for key, path in environment.items() if key.upper().endswith("_FILE")
    }
    found: dict[str, str] = {}
    for field, about in fields.items():
        if "SecretStr" not in str(about.annotation):
            continue
        for name in reversed(_list_variables(field, about)):  # the first name wins
            variable = f"{name.upper()}_FILE"
            path = _clean_value(variable, named.get(variable, ""))
            if isinstance(path, str):
                found[field] = _read_secret(variable, Path(path))
    return found


def _read_secret(variable: str, file: Path) -> str:
    """Return the content of a secret's file."""
    try:
        return file.read_text(encoding="utf-8-sig").strip()
    except (OSError, ValueError) as error:
        msg = f"{variable} names {file}, which cannot be read: {error}."
        raise NotConfigured(msg, f"Correct {variable}, or put the secret there.") from None


def _list_variables(field: str, about: FieldInfo) -> list[str]:
    """Return the variables that a setting is read from, the usual one first."""
    return [str(name) for name in getattr(about.validation_alias, "choices", [field])]


def find_user_cache() -> Path | None:
    """Return the user's cache folder; None if it is not writable.

    In a container the user often has neither an entry in passwd nor ``HOME``, or ``HOME=/``.
    """
    try:
        folder = user_cache_path("papershelf")
    except RuntimeError:  # platformdirs before 4.6 leaves the ~ instead
        return None
    there = next((one for one in (folder, *folder.parents) if one.exists()), Path())
    return folder if folder.is_absolute() and os.access(there, os.W_OK) else None


def _get_default_shelf() -> Path:
    """Return the default folder of the shelf."""
    if IN_CHECKOUT:
        return ROOT / "papers"
    try:
        return Path.home() / "papers"
    except RuntimeError:
        msg = "This user has no home folder for the shelf."
        raise NotConfigured(msg, "Set PAPERS_DIR to a folder, or HOME.") from None


def _get_default_pace_folder(values: dict[str, Any]) -> Path:
    """Return the default folder of the rate limits."""
    return find_user_cache() or values["papers_dir"] / ".papershelf" / "pace"


class _BaseSettings(BaseModel):
    """The settings that belong to no site; `Settings` adds the sites' addresses and keys."""

    # Built once, for the subclass that has all fields.
    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True, defer_build=True)

    def __init__(
        self,
        _environment: Mapping[str, str] | None = None,
        _files: Sequence[Path | None] | None = None,
        **values: Any,
    ) -> None:
        """Read the settings files, then the environment; *values* win."""
        fields = type(self).model_fields
        environment = os.environ if _environment is None else _environment
        found: dict[str, str] = {}
        for file in (find_user_settings_file(), ENV_FILE) if _files is None else _files:
            found |= _read_settings_file(fields, file)
        found |= _read_secret_files(fields, environment) | _group_by_field(fields, environment)
        known = {name: _clean_value(name, value) for name, value in (found | values).items()}
        super().__init__(**{name: value for name, value in known.items() if value is not _UNSET})

    pubmed_email: str = Field(
        "",
        validation_alias=AliasChoices("PUBMED_EMAIL", "NCBI_ADMIN_EMAIL"),
        description="your address; NCBI and Unpaywall require it",
    )
    ncbi_tool_identifier: str = Field(
        "papershelf", pattern=r"^\S+$", description="`tool=` on every E-utilities call"
    )
    pmc_cloud_request_delay_ms: float | None = Field(
        None,
        ge=0,
        le=60_000,
        description="milliseconds between two requests to PMC's Cloud Service, 5 or more; else "
        "62.5 (16 a second). The bucket has no published limit of its own, S3 has 5,500 a second",
    )
    ncbi_request_delay_ms: int | None = Field(
        None,
        ge=0,
        description="400 (110 with a key); a longer delay slows requests down, a shorter one "
        "has no effect",
    )
    ncbi_max_retries: int = Field(5, ge=1, le=5, description="tries per request, at most 5")

    papers_dir: Path = Field(default_factory=_get_default_shelf, description="the shelf")
    papers_sources: NameList = Field(
        TEXT_SOURCES, description="order of the ladder; leave one out to switch it off"
    )
    papers_retry_abstract_days: float = Field(
        30,
        ge=0,
        le=36_500,
        description="days until a full text is tried again; an hour if a source gave no answer",
    )
    papers_recheck_per_day: int = Field(
        500,
        ge=0,
        le=100_000,
        description="papers without their published text that are asked about again each day, at "
        "the end of a harvest in the shell and while a server runs; 0: none",
    )
    papers_keep_pdf: bool = Field(
        True, description="keep the PDF next to its text, if a PDF was fetched or handed in"
    )
    papers_form: Literal["txt", "md"] = Field(
        "txt",
        description="the form of new texts: `txt`, or `md` (a note with YAML front matter, for "
        "Obsidian, Logseq and Quarto)",
    )
    papers_keys: str = Field(
        "",
        description="the pattern of BibTeX keys, such as `authYearTitle`; else `roe2019moss`",
    )
    papers_offline: bool = Field(
        False, description="use only what is on disk; what is missing is reported"
    )
    papers_shared: bool = Field(
        False,
        description="the group of the shelf's folder can read and write everything on the shelf",
    )
    papers_allow_private_network: bool = Field(
        False, description="allow redirects and links to private addresses (tests, mirrors)"
    )
    papers_pace_dir: Path = Field(
        default_factory=_get_default_pace_folder,
        description="where all processes of this user share the rate limits; without it, "
        "people who share a shelf share them on the shelf",
    )
    papers_mirror_dir: Path | None = Field(
        None,
        description="where `mirror` keeps whole databases (PubMed: 120 GB); else on the shelf, in "
        "`.papershelf/mirror/`. Nodes of a cluster must see it under the same path",
    )
    papers_openurl: str = Field(
        "", description="your library's OpenURL resolver: links for papers without a full text"
    )
    papers_ezproxy: str = Field(
        "", description="your library's proxy prefix, `https://…/login?url=`, or with `{url}`"
    )
    papers_libkey: str = Field("", description="your library's number at LibKey")
    papers_proxy: SecretStr | None = Field(
        None,
        description="the proxy; it overrides those below: `http://USER:PASSWORD@HOST:PORT`, "
        "`https:`, `socks5h:` (needs the extra `socks`), `direct`; or by host: "
        "`doi.org=direct,*=http://HOST:PORT`",
    )
    https_proxy: SecretStr | None = Field(None, description="the proxy for https, as in curl")
    http_proxy: SecretStr | None = Field(None, description="the proxy for http, as in curl")
    all_proxy: SecretStr | None = Field(None, description="the proxy if neither is set")
    no_proxy: str = Field(
        "", description="hosts to reach without a proxy: `lab.edu,10.0.0.0/8`; `*`: all"
    )
    papers_ca_bundle: Path | None = Field(
        None,
        description="certificates of your network's authority, trusted in addition to the usual "
        "ones: a file (PEM or DER) or a folder of such files",
    )
    ssl_cert_file: str = Field("", description="the same, as OpenSSL spells it")
    ssl_cert_dir: str = Field("", description="the same: folders")
    requests_ca_bundle: str = Field("", description="the same, as Python's requests spells it")
    curl_ca_bundle: str = Field("", description="the same, as curl spells it")

    database_url: SecretStr | None = Field(
        None, description="PostgreSQL, for a shared corpus; else SQLite on the shelf"
    )
    embeddings_provider: Literal["local", "hf", "openai", "none"] = Field(
        "local",
        description="what makes vectors: local (this machine, the model of `EMBEDDINGS_MODEL`), hf "
        "(this machine; without `EMBEDDINGS_MODEL`, all-MiniLM-L6-v2 from the Hub), openai; none: "
        "search by words alone",
    )
    embeddings_model: str = Field(
        "",
        description="a folder with an ONNX file, or `OWNER/NAME` on the Hugging Face Hub, fetched "
        "when first used (`OWNER/NAME@REVISION:FILE.onnx` for another revision than was met first, "
        "or another file than the usual one); with openai, the name of a model of that server",
    )
    reranker_model: str = Field(
        "",
        description="a cross-encoder (a folder with an ONNX file, or `OWNER/NAME` on the Hub) that "
        "orders the best passages again; empty: no second ordering",
    )
    hub_base_url: Url = Field(
        "https://huggingface.co",
        validation_alias=AliasChoices("HF_ENDPOINT", "HUB_BASE_URL"),
        description="the Hub of the models (a mirror, or the stand-in of the tests)",
    )
    hf_token: SecretStr | None = Field(
        None, description="your token for the Hub, for models that require one"
    )
    openai_api_key: SecretStr | None = Field(None, description="for `EMBEDDINGS_PROVIDER=openai`")
    openai_base_url: Url = _make_url_field(
        "https://api.openai.com/v1", "OpenAI, or a compatible server"
    )
    vector_store: Literal["embedded", "weaviate"] = Field(
        "embedded", description="embedded (needs no service), weaviate"
    )
    weaviate_url: str = Field(
        "", description="for `VECTOR_STORE=weaviate`; `?grpc_port=` if it is not 50051"
    )
    weaviate_api_key: SecretStr | None = Field(None, description="for `VECTOR_STORE=weaviate`")
    weaviate_class: str = Field(
        "PubMedChunk", pattern=r"^[A-Z][A-Za-z0-9_]*$", description="its collection"
    )

    mcp_toolsets: NameList = Field(
        ("core",),
        description=f"comma list of {', '.join(f'`{name}`' for name in TOOLSETS)}; or `all`",
    )
    mcp_tool_names: Literal["plain", "dotted"] = Field(
        "plain", description="dotted: `rag.search` and similar, for hosts that know those names"
    )
    mcp_delivery: Literal["auto", "structured", "text", "both"] = Field(
        "auto",
        description="whether answers come as structure, text or both; auto: in the form that the "
        "host shows",
    )
    mcp_transport_type: Literal["stdio", "http"] = Field(
        "stdio", description="stdio, http; `--transport` says the same"
    )
    mcp_http_host: str = Field("127.0.0.1", description="the address HTTP listens on; `--host`")
    mcp_http_port: int = Field(
        3010, ge=0, le=65_535, description="the port HTTP listens on (0: any); `--port`"
    )
    mcp_auth_secret_key: SecretStr | None = Field(
        None, description="signs and checks tokens for HTTP (HS256); 32 bytes at least"
    )
    mcp_auth_jwks_uri: str = Field(
        "", description="public keys of an identity provider, instead of a secret"
    )
    mcp_auth_issuer: str = Field(
        "", description="`iss` of every token; required with `MCP_AUTH_JWKS_URI`"
    )
    mcp_auth_audience: str = Field(
        "", description="`aud` of every token: the public address of the server"
    )
    mcp_allowed_origins: NameList = Field(
        (), description="origins of web pages that may call over HTTP; others get 403"
    )
    mcp_log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info",
        description="debug (every request: method, address without keys, status, milliseconds), "
        "info, warning, error; logs go to stderr",
    )
    logs_dir: Path | None = Field(
        None, description="rotating log files, one JSON object per line, for the owner only"
    )

    @field_validator("papers_sources")
    @classmethod
    def _check_sources(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Reject unknown sources."""
        unknown = set(value) - set(TEXT_SOURCES)
        if unknown:
            msg = f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(TEXT_SOURCES)}"
            raise ValueError(msg)
        return value

    @field_validator("mcp_toolsets")
    @classmethod
    def _check_toolsets(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Reject unknown toolsets."""
        if unknown := set(value) - {*TOOLSETS, "all"}:
            msg = f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(TOOLSETS)}, all"
            raise ValueError(msg)
        return value

    @field_validator("mcp_allowed_origins")
    @classmethod
    def _check_origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Reject values that are not whole origins."""
        for origin in value:
            if not re.fullmatch(r"[a-z][a-z0-9+.-]*://[^/\s*?#@]+", origin):
                msg = f"{origin!r} is not a whole origin, such as https://lab.edu"
                raise ValueError(msg)
        return value

    @field_validator("mcp_auth_jwks_uri")
    @classmethod
    def _require_https_for_keys(cls, value: str) -> str:
        """Reject an address of public keys that is not encrypted."""
        local = r"http://(127\.0\.0\.1|localhost|\[::1\])(:\d+)?/"
        if value and not re.match(rf"https://[^/\s]+/|{local}", value):
            msg = "must start with https://; whoever changes these keys can sign tokens"
            raise ValueError(msg)
        return value

    @field_validator(*_FOLDER_FIELDS)
    @classmethod
    def _make_absolute(cls, value: Path | None) -> Path | None:
        """Resolve a relative folder against the current one, as every program does."""
        try:
            return value and value.expanduser().absolute()
        except RuntimeError:
            msg = "~ cannot be resolved: this user has no home folder"
            raise ValueError(msg) from None

    @property
    def email_problem(self) -> str:
        """The reason why ``PUBMED_EMAIL`` cannot be used, in words; empty if it can."""
        if not self.pubmed_email:
            return "is not set"
        if not (_EMAIL_PATTERN.fullmatch(self.pubmed_email) and self.pubmed_email.isascii()):
            return "is not an e-mail address"
        return "is a placeholder" if _PLACEHOLDER_EMAIL_PATTERN.search(self.pubmed_email) else ""

    @property
    def contact(self) -> str:
        """The user's e-mail address if it is usable, else empty: reading the shelf needs none."""
        return "" if self.email_problem else self.pubmed_email

    def require_email(self, site: str) -> str:
        """Return the contact address, which *site* requires.

        Raises
        ------
        NotConfigured
            ``PUBMED_EMAIL`` is not set, or is not a usable address.
        """
        if fault := self.email_problem:
            msg = f"{site} asks every client for a contact address, and PUBMED_EMAIL {fault}."
            raise NotConfigured(msg, "Set PUBMED_EMAIL to your own e-mail address.")
        return self.pubmed_email

    def key(self, name: str) -> str:
        """Return the secret called *name* (a field of this class); "" if it is blank."""
        secret = getattr(self, name)
        return secret.get_secret_value().strip() if secret else ""

    def address(self, service: str) -> str:
        """Return the address of a service of a site: ``<service>_base_url``."""
        return str(getattr(self, f"{service}_base_url"))

    @property
    def pace_folder(self) -> Path:
        """The folder of the rate limits; on a shared shelf, a folder on the shelf."""
        if self.papers_shared and "papers_pace_dir" not in self.model_fields_set:
            return self.papers_dir / ".papershelf" / "pace"
        return self.papers_pace_dir

    @property
    def cache_folder(self) -> Path:
        """The folder of models: the user's cache folder, else one on the shelf."""
        return find_user_cache() or self.papers_dir / ".papershelf" / "cache"

    @property
    def mirror_folder(self) -> Path:
        """The folder of mirrors of whole databases."""
        return self.papers_mirror_dir or self.papers_dir / ".papershelf" / "mirror"

    @property
    def user_agent(self) -> str:
        """``User-Agent``: our name, version and the contact address."""
        contact = f" (mailto:{self.contact})" if self.contact else ""
        return f"Papershelf/{get_version()}{contact}"


def _build_aliases(key: Key) -> dict[str, Any]:
    """Return the option for the variables of a key; without aliases, any case is accepted."""
    names = map(str.upper, (key.setting, *key.aliases))
    return {"validation_alias": AliasChoices(*names)} if key.aliases else {}


def _build_site_fields() -> dict[str, Any]:
    """Return the fields for keys and addresses of sites, and for settings of plugins."""
    keys = {
        key.setting: (SecretStr | None, Field(None, description=key.gives, **_build_aliases(key)))
        for key in KEYS
    }
    addresses = {
        f"{address.service}_base_url": (Url, _make_url_field(address.url, address.about))
        for site in SITES
        for address in site.addresses
    }
    added = {
        name: (
            SecretStr | None if setting.type == "secret" else setting.type,
            Field(setting.default, description=setting.about),
        )
        for plugin in list_plugins()
        for name, setting in plugin.settings.items()
        if name not in _BaseSettings.model_fields
    }
    return keys | addresses | added


if TYPE_CHECKING:

    class Settings(_BaseSettings):
        """All settings of Papershelf. Their names in capitals are environment variables."""

else:
    Settings = create_model(
        "Settings",
        __base__=_BaseSettings,
        __module__=__name__,
        __doc__="All settings of Papershelf. Their names in capitals are environment variables.",
        **_build_site_fields(),
    )


class Overrides(SiteKeys, total=False):
    """Single settings passed from Python, by name; strings become paths or secrets.

    Addresses of sites (``arxiv_base_url``) are accepted too, but belong in the environment.
    """

    pubmed_email: str
    ncbi_tool_identifier: str
    pmc_cloud_request_delay_ms: float | None
    ncbi_request_delay_ms: int | None
    ncbi_max_retries: int
    papers_dir: Folder
    papers_sources: Sequence[str]
    papers_retry_abstract_days: float
    papers_recheck_per_day: int
    papers_keep_pdf: bool
    papers_form: Literal["txt", "md"]
    papers_keys: str
    papers_offline: bool
    papers_shared: bool
    papers_allow_private_network: bool
    papers_pace_dir: Folder
    papers_mirror_dir: Folder | None
    papers_openurl: str
    papers_ezproxy: str
    papers_libkey: str
    papers_proxy: Secret
    https_proxy: Secret
    http_proxy: Secret
    all_proxy: Secret
    no_proxy: str
    papers_ca_bundle: Folder | None
    ssl_cert_file: str
    ssl_cert_dir: str
    requests_ca_bundle: str
    curl_ca_bundle: str
    database_url: Secret
    embeddings_provider: Literal["local", "hf", "openai", "none"]
    embeddings_model: str
    reranker_model: str
    hub_base_url: str
    hf_token: Secret
    openai_api_key: Secret
    openai_base_url: str
    vector_store: Literal["embedded", "weaviate"]
    weaviate_url: str
    weaviate_api_key: Secret
    weaviate_class: str
    zotero_local_url: str
    zotero_base_url: str
    zotero_api_key: Secret
    zotero_library: str
    mcp_toolsets: Sequence[str]
    mcp_tool_names: Literal["plain", "dotted"]
    mcp_delivery: Literal["auto", "structured", "text", "both"]
    mcp_transport_type: Literal["stdio", "http"]
    mcp_http_host: str
    mcp_http_port: int
    mcp_auth_secret_key: Secret
    mcp_auth_jwks_uri: str
    mcp_auth_issuer: str
    mcp_auth_audience: str
    mcp_allowed_origins: Sequence[str]
    mcp_log_level: Literal["debug", "info", "warning", "error"]
    logs_dir: Folder | None


def map_variables_to_fields() -> dict[str, str]:
    """Return the field for each variable that a setting is read from, in capitals."""
    return {
        name.upper(): field
        for field, about in Settings.model_fields.items()
        for name in _list_variables(field, about)
    }


def get_system_proxies() -> dict[str, str]:
    """Return the proxies of the system's own settings by scheme; on Linux, none.

    A proxy auto-configuration script (PAC) is not run.
    """
    from urllib import request

    ask: Any = getattr(request, "getproxies_macosx_sysconf", None) or getattr(
        request, "getproxies_registry", dict
    )
    found: dict[str, str] = ask()
    return found


def is_proxy_bypassed(host: str) -> bool:
    """Return whether the system's own settings reach *host* without a proxy."""
    from urllib import request

    ask: Any = getattr(request, "proxy_bypass_macosx_sysconf", None) or getattr(
        request, "proxy_bypass_registry", None
    )
    return bool(ask and ask(host))


def load_file_settings() -> Settings:
    """Return the settings in the settings files, for a process without an environment.

    An installed package reads ``.env`` in the folder where it is started. Hosts do not promise
    which folder that is, so only the user's settings file counts for them.
    """
    files = [find_user_settings_file(), *([ENV_FILE] if IN_CHECKOUT else [])]
    try:
        # mypy knows only the fields
        return Settings(_environment={}, _files=files)  # type: ignore[call-arg]
    except ValidationError:  # the environment overrules it, or we had not come so far
        return Settings.model_construct()


def find_program_folders(
    platform: str, variables: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Return the folders in which other programs keep their settings, for those that we edit.

    ``home`` is the user's folder, ``config`` the one of programs' settings, ``local`` Windows' data
    that stay on this machine, and ``codex`` the one of Codex.
    """
    home = variables.get("HOME") or variables.get("USERPROFILE") or str(Path.home())
    config = {
        "win32": variables.get("APPDATA") or f"{home}/AppData/Roaming",
        "darwin": f"{home}/Library/Application Support",
    }.get(platform) or variables.get("XDG_CONFIG_HOME")
    return {
        "home": home,
        "config": config or f"{home}/.config",
        "local": variables.get("LOCALAPPDATA") or f"{home}/AppData/Local",
        "codex": variables.get("CODEX_HOME") or f"{home}/.codex",
    }


def read_pager_command() -> list[str] | None:
    """Return the command in ``PAGER``; None where it is unset, empty where ``NO_PAGER`` is set."""
    import shlex

    if os.environ.get("NO_PAGER"):
        return []
    pager = os.environ.get("PAGER")
    return None if pager is None else shlex.split(pager)


def get_uv_path() -> str:
    """Return the path of the uv that started this process; "" if none did."""
    return os.environ.get("UV", "")


def load_settings(**overrides: Any) -> Settings:
    """Read the settings from the environment and ``.env``; *overrides* win.

    Raises
    ------
    BadRequest
        A variable has a value that cannot be used.
    """
    if unknown := set(overrides) - set(Settings.model_fields):
        msg = f"There is no setting {', '.join(sorted(unknown))}."
        near = suggest_nearest_name(min(unknown), Settings.model_fields)
        raise BadRequest(msg, near or f"To list all: {command_line('setup settings')}")
    try:
        return Settings(**overrides)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]).upper()
        reason = first["msg"].removeprefix("Value error, ")
        # The value itself stays out: it may be a key.
        hint = f"Correct {name} in the environment or .env."
        raise BadRequest(f"{name}: {reason}.", hint) from None
