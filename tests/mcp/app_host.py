"""A host of MCP Apps in a browser: shows a view, hands it a tool's result, answers its calls.

The messages follow the specification of 2026-01-26 (modelcontextprotocol/ext-apps,
``specification/2026-01-26/apps.mdx``): ``ui/initialize`` is answered, ``tool-result`` comes after
``ui/notifications/initialized``, a view's ``tools/call`` gets a ``CallToolResult``. The policy is
the one a host sets where a view declares nothing. In its own page the host writes down what the
view asked for and what it showed, so that a browser without a window can tell (``--dump-dom``).
"""

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from tests.fixtures import fixture_text

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or ""
_POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; media-src 'self' data:; connect-src 'none'"
)
_HOST = fixture_text("mcp/app_host.html")


def page(
    view: str,
    first: Any,
    calls: Mapping[str, Sequence[Any]] | None = None,
    acts: Sequence[tuple[str, Mapping[str, str]]] = (),
    *,
    asked: Any = None,
    can_call: bool = True,
    theme: str = "light",
    height: int = 1400,
) -> str:
    """The host's page around *view*.

    Parameters
    ----------
    first : dict
        The tool result that the view is shown with.
    calls : mapping, optional
        What calls of each tool are answered, one after the other; the last one again and again.
    acts : sequence, optional
        What a person does then: a selector, and ``{"text": …}`` of what is clicked,
        ``{"write": …}`` into it or ``{"key": …}`` pressed there.
    asked : dict, optional
        The arguments of the call that *first* answers.
    can_call : bool, optional
        Whether the host passes calls of tools on.
    """
    policy = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    shut = view.replace("<head>", f"<head>{policy}", 1)
    answers = json.dumps({"first": first, "calls": calls or {}, "asked": asked or {}}).replace(
        "<", "\\u003c"
    )
    filled = _HOST.replace("HEIGHT", str(height)).replace("THEME", theme)
    capabilities = {"openLinks": {}} | ({"serverTools": {}} if can_call else {})
    filled = filled.replace("CAPABILITIES", json.dumps(capabilities))
    filled = filled.replace("GROUND", "#fff" if theme == "light" else "#14171a")
    filled = filled.replace("ANSWERS", answers, 1).replace("ACTS", json.dumps(list(acts)), 1)
    return filled.replace("VIEW", escape(shut), 1)


def seen(html: str, folder: Path, lasting_ms: int = 4000) -> dict[str, Any]:
    """What a browser says of a host's page: what was asked, what was shown.

    *lasting_ms* is on the browser's own clock, which runs ahead where there is nothing to do.
    """
    file = folder / "host.html"
    file.write_text(html, "utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--virtual-time-budget={lasting_ms}"]
    command = [BROWSER, *flags, f"--user-data-dir={folder / 'profile'}", "--dump-dom"]
    done = subprocess.run([*command, file.as_uri()], capture_output=True, timeout=120, check=True)
    log = done.stdout.decode().rpartition('<pre id="log">')[2].partition("</pre>")[0]
    import html as markup

    said: dict[str, Any] = json.loads(markup.unescape(log))
    return said
