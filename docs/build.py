"""Build the documentation as a site: `python docs/build.py` writes it to `build/site`.

Pages of `docs/`, the READMEs, the executed notebooks and generated references are laid out in `build/pages`. Zensical
makes the site of them, strictly. Then every link and anchor of the result is followed, and `llms.txt` is written. Needs
the extra `docs`.
"""

from __future__ import annotations

import inspect
import json
import posixpath
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
PAGES, SITE = ROOT / "build/pages", ROOT / "build/site"
HOME = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Repository"]

COPIED = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "CONTRIBUTING.md": "contributing.md",
    **{f"docs/{page.name}": page.name for page in sorted((ROOT / "docs").glob("*.md"))},
    **{f"integrations/{name}/README.md": f"{name}_components.md" for name in ("haystack", "langchain", "llamaindex")},
    **{f"notebooks/{book.name}": f"notebook_{book.stem}.md" for book in sorted((ROOT / "notebooks").glob("*.ipynb"))},
}  # fmt: skip
"""Files of the repository, and the page that each becomes."""

GOOGLE, SPHINX = "google", "sphinx"
MODULES = {
    "reference_core.md": ("The functions", GOOGLE, ["intrinsics_core"]),
    "reference_results.md": ("Results and errors", GOOGLE, [
        "intrinsics_core.protocol.results", "intrinsics_core.protocol.errors"]),
    "reference_plugins.md": ("For authors of profiles and runtimes", GOOGLE, [
        "intrinsics_core.protocol.profile", "intrinsics_core.protocol.requests", "intrinsics_core.protocol.task",
        "intrinsics_core.protocol.call", "intrinsics_core.runtimes.base"]),
    "reference_running.md": ("Runs, streams, calibration, tables, training", GOOGLE, [
        "intrinsics_core.running.streaming", "intrinsics_core.running.calibrate", "intrinsics_core.training.fitting",
        "intrinsics_core.render.citations"]),
    "reference_langchain.md": ("LangChain", GOOGLE, ["langchain_rag_intrinsics", "langchain_rag_intrinsics.agents"]),
    "reference_llamaindex.md": ("LlamaIndex", GOOGLE, [
        f"llama_index.{room}rag_intrinsics" for room in (
            "embeddings.", "query_transform.", "retrievers.", "postprocessor.", "response_synthesizers.", "evaluation.",
            "")]),
    "reference_haystack.md": ("Haystack", SPHINX, [
        *(f"haystack_integrations.components.{room}.rag_intrinsics" for room in (
            "embedders", "query", "rankers", "routers", "validators", "evaluators")),
        "haystack_integrations.hooks.rag_intrinsics", "haystack_integrations.common.rag_intrinsics"]),
}  # fmt: skip
"""Reference pages that mkdocstrings makes of docstrings: title, style, modules."""


def laid_out() -> None:
    """Write all pages to `PAGES`."""
    shutil.rmtree(PAGES, ignore_errors=True)
    PAGES.mkdir(parents=True)
    for source, page in COPIED.items():
        text = notebook(ROOT / source) if source.endswith(".ipynb") else (ROOT / source).read_text(encoding="utf-8")
        (PAGES / page).write_text(relinked(plain_prompts(text), source), encoding="utf-8")
    shutil.copy(ROOT / "docs/page.png", PAGES / "page.png")
    for page, (title, style, modules) in MODULES.items():
        (PAGES / page).write_text(directives(title, style, modules), encoding="utf-8")
    (PAGES / "reference_configs.md").write_text(configs(), encoding="utf-8")
    (PAGES / "reference_schemas.md").write_text(schemas(), encoding="utf-8")
    (PAGES / "reference_cli.md").write_text(command_line(), encoding="utf-8")


def relinked(text: str, source: str) -> str:
    """A page's text with its links to files of the repository turned into links to pages, or to the repository."""

    def link(found: re.Match[str]) -> str:
        target, _, anchor = found[1].partition("#")
        if not target or "://" in target or target.startswith("mailto:"):
            return found[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if path == "docs/page.png":
            return "](page.png)"
        if not (ROOT / path).exists():
            raise SystemExit(f"{source} links to {target}, which is not there")
        page = COPIED.get(path) or f"{HOME}/{'tree' if (ROOT / path).is_dir() else 'blob'}/main/{path}"
        return f"]({page}{'#' + anchor if anchor else ''})"

    return re.sub(r"\]\(([^)\s]+)\)", link, text)


def plain_prompts(text: str) -> str:
    """Doctests are shown as Python's console."""
    return re.sub(r"```python\n(?=>>> )", "```pycon\n", text)


def notebook(file: Path) -> str:
    """An executed notebook as Markdown, with its stored outputs: HTML as it is, pictures, else text."""
    lines: list[str] = []
    blank_lines = re.compile(r"\n(?:[ \t]*\n)+")  # where Markdown would end the HTML
    for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            lines += [source, ""]
            continue
        lines += ["```python", source, "```", ""]
        for output in cell.get("outputs", ()):
            kinds = output.get("data", {})
            if page := "".join(kinds.get("text/html", "")).strip():
                lines += [f"<div>{blank_lines.sub(chr(10), page)}</div>", ""]
                continue
            if picture := "".join(kinds.get("image/png", "")).strip():
                lines += [f'<img alt="What the cell above draws" src="data:image/png;base64,{picture}">', ""]
                continue
            said = output.get("text") or kinds.get("text/plain") or ""
            if shown := re.sub(r"\x1b\[[0-9;]*m", "", "".join(said)).strip():
                lines += ["```text", shown, "```", ""]
    return "\n".join(lines)


def directives(title: str, style: str, modules: list[str]) -> str:
    lines = [f"# {title}", ""]
    for module in modules:
        lines += [f"::: {module}", "    options:", f"      docstring_style: {style}", ""]
    return "\n".join(lines)


def configs() -> str:
    """Every field of every runtime's config."""
    from intrinsics_core.runtimes import configs as module

    lines = [
        "# Configs of runtimes",
        "",
        "Each kind of runtime is named by `kind`. Paths and numbers are checked when it is made.",
    ]
    for name, config in sorted(vars(module).items()):
        if not (inspect.isclass(config) and issubclass(config, module.Config) and "kind" in config.model_fields):
            continue
        if config is module.Config or name.startswith("_"):
            continue
        lines += [
            "",
            f"## {name}",
            "",
            described(config),
            "",
            "| field | type | default |",
            "|---|---|---|",
        ]
        for field, about in config.model_fields.items():
            kind = (
                getattr(about.annotation, "__name__", None)
                if inspect.isclass(about.annotation)
                else str(about.annotation)
            )
            default = "required" if about.is_required() else f"`{about.get_default(call_default_factory=True)!r}`"
            lines.append(f"| `{field}` | `{cell(kind)}` | {cell(default)} |")
    return "\n".join(lines) + "\n"


def cell(text: str) -> str:
    return text.replace("typing.", "").replace("|", "\\|")


def described(config: type) -> str:
    """A config's docstring in Markdown: a paragraph, and a list of what its fields are."""
    text, _, fields = re.sub(r"``([^`]+)``", r"`\1`", inspect.getdoc(config) or "").partition("Attributes:\n")
    listed = re.sub(r"(?m)^    (\w+(?:, \w+)*): ", r"- `\1`: ", fields)
    return text + re.sub(r"(?m)^     +", "  ", listed)


def schemas() -> str:
    """The JSON schemas of results, whole."""
    lines = [
        "# JSON schemas of results",
        "",
        "The command line and the service write these. `schema_version` counts changes.",
    ]
    for file in sorted((ROOT / "intrinsics_core/data/schemas").glob("*.json")):
        lines += [
            "",
            f"## {file.stem.partition('.')[0]}",
            "",
            "```json",
            file.read_text(encoding="utf-8").strip(),
            "```",
        ]
    return "\n".join(lines) + "\n"


def command_line() -> str:
    """The command line, as typer tells it."""
    command = [sys.executable, "-m", "typer", "intrinsics_core.cli.commands", "utils", "docs", "--name", "intrinsics"]
    told = subprocess.run(
        [*command, "--title", "The command line"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return told.stdout


# --- the links ----------------------------------------------------------------------------------------------------


class Links(HTMLParser):
    """Links, sources and ids of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.targets: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids.update(filter(None, (given.get("id"), given.get("name"))))
        if tag == "a" and given.get("href"):
            self.targets.append(str(given["href"]))
        if tag in ("script", "img", "iframe") and given.get("src"):
            self.loaded.append(str(given["src"]))
        if tag == "link" and given.get("rel") in ("stylesheet", "preload", "preconnect") and given.get("href"):
            self.loaded.append(str(given["href"]))


def wrong_links() -> Iterator[str]:
    """Links and anchors that lead nowhere, and what a page would fetch from elsewhere."""
    pages = {}
    for file in SITE.rglob("*.html"):
        pages[file] = Links()
        pages[file].feed(file.read_text(encoding="utf-8"))
    for file, page in pages.items():
        if file.name == "404.html":
            continue
        for source in page.loaded:
            if urlsplit(source).netloc:
                yield f"{file.relative_to(SITE)} fetches {source}"
        for target in [*page.targets, *page.loaded]:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            to = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            to = to / "index.html" if to.is_dir() else to
            if not to.is_file():
                yield f"{file.relative_to(SITE)} links to {target}, which is not there"
            elif parts.fragment and to in pages and unquote(parts.fragment) not in pages[to].ids | {"__skip"}:
                yield f"{file.relative_to(SITE)} links to {target}, which has no such place"


def summary() -> str:
    """`llms.txt`: the pages, a line each, for programs that read."""
    project = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    lines = [f"# {project['site_name']}", "", f"> {project['site_description']}"]
    for section in project["nav"]:
        for title, pages in section.items():
            lines += ["", f"## {title}", ""]
            for each in pages if isinstance(pages, list) else [{title: pages}]:
                for name, page in each.items():
                    lines.append(f"- [{name}]({project['site_url']}{page.removesuffix('.md').removesuffix('index')}/)")
    return "\n".join(lines).replace("//)", "/)") + "\n"


def main() -> None:
    laid_out()
    subprocess.run(["zensical", "build", "--clean", "--strict"], check=True, cwd=ROOT)
    if wrong := sorted(set(wrong_links())):
        raise SystemExit("\n".join(wrong))
    (SITE / "llms.txt").write_text(summary(), encoding="utf-8")
    print(f"{SITE}: {len(list(SITE.rglob('*.html')))} pages, every link leads somewhere")


if __name__ == "__main__":
    main()
