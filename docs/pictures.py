"""The pictures of README and site: the demo in a terminal, its report, and the ladder.

``uv run --with pillow python -m docs.pictures [CHROMIUM]`` runs the demo, which takes 20 seconds,
and writes the files in ``docs/pages/pictures/``. Look at each of them afterwards.
"""

from __future__ import annotations

import html
import io
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text

from utils.cli.wrapping import wrap_lines

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "pages" / "pictures"
_COLUMNS = 80
_REPORT_HEIGHT = 1195  # down to the end of the first chart
_RUNGS = (
    ("your shelf", "served at once"),
    ("PMC", "XML"),
    ("Europe PMC", "XML, preprints"),
    ("arXiv", "HTML, LaTeX, PDF"),
    ("open copies", "Unpaywall, OpenAlex"),
    ("text mining", "with your keys"),
    ("publisher", "page or PDF"),
    ("other copies", "CORE, OpenAlex"),
    ("Jina Reader", "rendered page"),
    ("abstract", "and it says so"),
)
_TEAL, _AMBER, _GREY = "#12726b", "#b4770f", "#8a928f"


def run_demo(folder: Path) -> tuple[list[str], Path]:
    """Run the demo; return the lines that a terminal shows at the end, and the report."""
    command = [sys.executable, str(ROOT / "server.py"), "setup", "demo"]
    done = subprocess.run(
        command, env={"TMPDIR": str(folder), "PATH": "/usr/bin:/bin"}, cwd=folder,
        capture_output=True, text=True, check=True, encoding="utf-8",
    )  # fmt: skip
    said = [line for line in done.stderr.splitlines() if not re.match(r"\d+ of|\d+ papers", line)]
    lines = [*said[:3], *done.stdout.splitlines(), *said[3:]]
    report = next(folder.glob("papershelf-demo-*/papers/reports/*/report.html"))
    demo = str(report.parents[3])
    return [line.replace(demo, "/tmp/demo") for line in lines], report


def draw_terminal(lines: list[str]) -> str:
    """Return an SVG of a terminal that shows the demo."""
    console = Console(record=True, width=_COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.assemble(("$ ", "bold green"), ("papershelf setup demo", "bold")))
    for line in lines:
        shown = line.replace("server.py", "papershelf").replace("uv run ", "")
        for part in wrap_lines(shown, _COLUMNS).splitlines() or [""]:
            console.print(Text(part), highlight=True)
    svg = console.export_svg(title="papershelf", theme=SVG_EXPORT_THEME, unique_id="terminal")
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S)  # would be loaded from elsewhere


def draw_ladder() -> str:
    """Return an SVG of the sources in the order they are asked."""
    width, height, gap, columns = 170, 58, 24, 3  # narrow enough to be read on a telephone
    parts = []
    for number, (name, about) in enumerate(_RUNGS):
        row, column = divmod(number, columns)
        x, y = column * (width + gap) + 4, row * (height + 40) + 4
        colour = _AMBER if number == len(_RUNGS) - 1 else _TEAL
        parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" fill="{colour}"/>'
            f'<text x="{x + width / 2}" y="{y + 25}" class="name">{html.escape(name)}</text>'
            f'<text x="{x + width / 2}" y="{y + 44}" class="about">{html.escape(about)}</text>'
        )
        if number == len(_RUNGS) - 1:
            break
        if column < columns - 1:
            parts.append(_arrow(x + width + 3, y + height / 2, x + width + gap - 3, y + height / 2))
        else:
            parts.append(
                f'<path d="M{x + width / 2} {y + height + 4} v16 H{width / 2 + 4} v14" '
                'class="line" marker-end="url(#tip)"/>'
            )
    wide, high = columns * (width + gap) - gap + 8, (row + 1) * (height + 40) - 32
    size = f'width="{wide}" height="{high}" viewBox="0 0 {wide} {high}"'
    return f"""<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">
<title>The sources in the order they are asked</title>
<style>text {{ font-family: system-ui, sans-serif; text-anchor: middle; fill: #fff }}
.name {{ font-size: 16px; font-weight: 600 }} .about {{ font-size: 13px }}
.line {{ fill: none; stroke: {_GREY}; stroke-width: 2 }}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="5" markerHeight="5"
orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="{_GREY}"/></marker></defs>
{chr(10).join(parts)}
</svg>
"""


def _arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    return f'<path d="M{x} {y} L{to_x} {to_y}" class="line" marker-end="url(#tip)"/>'


def shoot(page: Path, picture: Path, chromium: str, *, dark: bool) -> None:
    """Write a picture of the upper part of *page*."""
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    subprocess.run(
        [chromium, "--headless", "--no-sandbox", "--hide-scrollbars",
         f"--window-size=1100,{_REPORT_HEIGHT}",
         *scheme, f"--screenshot={picture}", page.as_uri()],
        check=True, capture_output=True,
    )  # fmt: skip
    Image.open(picture).convert("RGB").quantize(64).save(picture, optimize=True)


def main(chromium: str = "chromium") -> None:
    """Write all pictures."""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "ladder.svg").write_text(draw_ladder(), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        lines, report = run_demo(Path(folder))
        (FOLDER / "terminal.svg").write_text(draw_terminal(lines), encoding="utf-8")
        for name in ("light", "dark"):
            shoot(report, FOLDER / f"report-{name}.png", chromium, dark=name == "dark")


if __name__ == "__main__":
    main(*sys.argv[1:2])
