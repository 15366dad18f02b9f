"""What the pages in docs/ say in tables and names is what the code has."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from intrinsics_core.profiles.io_yaml.spec import Parameters, _File
from intrinsics_core.runtimes.configs import (
    EmbeddedConfig,
    EncodersConfig,
    ServerConfig,
    TransformersConfig,
    VllmConfig,
)
from tests.runtimes.test_imitations import SERVERS, STATES

DOCS = Path(__file__).parent.parent / "docs"


def rows(page: str, first: str) -> dict[str, list[str]]:
    """A table by its first column; ``first`` is that column's heading."""
    text = (DOCS / page).read_text(encoding="utf-8")
    table = text[text.index(f"| {first} |") :].split("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table]
    return {row[0]: row[1:] for row in cells}


def test_the_table_of_servers_is_what_the_imitations_show():
    table = rows("servers.md", "server")
    renamed = {
        "vLLM, a template without documents": "vLLM, a template that ignores documents",
        "LiteLLM that drops": "LiteLLM",
        "LiteLLM that refuses": "LiteLLM",
        "a server that says nothing of itself": "one that does not say who it is",
    }
    for name, server in SERVERS.items():
        constraints, logprobs, documents, _adapters, first, named = table[renamed.get(name, name)]
        shown = STATES.get(name, ("works", "works", "works"))
        for cell, state in zip((constraints, logprobs, documents), shown, strict=True):
            assert cell.startswith((state, "as ")), (name, cell)
        assert (int(first), int(named)) == (server.first, 2)
    assert set(table) == {renamed.get(name, name) for name in SERVERS}


def test_settings_and_keys_that_the_pages_name_exist():
    servers, files = ((DOCS / page).read_text(encoding="utf-8") for page in ("servers.md", "adapters.md"))
    for name in ("documents", "constraints", "reasoning_tokens"):
        assert f'"{name}"' in servers
        assert name in ServerConfig.model_fields
    listed = files.split("Keys: ")[1].split(". Any other")[0]
    assert set(_File.model_fields) <= set(re.findall(r"`(\w+)`", listed))
    penalties = re.findall(r"`(\w+)`", files.split("has the one.")[-1].split("go to servers")[0])
    assert {name for name in Parameters.model_fields if "penalty" in name} <= set(penalties)


def test_the_readmes_table_is_the_table_of_intrinsics() -> None:
    from intrinsics_core.intrinsics import TABLE

    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    for name, record in TABLE.items():
        assert f"| `{record.function.__name__}` | `{name}` | {record.needs} | {record.gives} |" in readme, name


def test_each_page_is_in_the_sites_navigation() -> None:
    navigation = (DOCS.parent / "zensical.toml").read_text(encoding="utf-8")
    assert [page.name for page in DOCS.glob("*.md") if f'"{page.name}"' not in navigation] == []


def test_each_option_of_a_config_is_in_the_page_of_runtimes() -> None:
    page = (DOCS / "runtimes.md").read_text(encoding="utf-8")
    named = set(re.findall(r'`"?(\w+)"?', page))
    for config in (EmbeddedConfig, EncodersConfig, ServerConfig, TransformersConfig, VllmConfig):
        assert set(config.model_fields) - {"kind"} <= named, config.__name__


def test_notebooks_on_the_site_show_what_their_cells_drew() -> None:
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("build_docs", DOCS / "build.py")
    assert spec and spec.loader
    spec.loader.exec_module(build := module_from_spec(spec))
    for name in ("haystack", "langchain", "llamaindex"):
        page = build.notebook(DOCS.parent / "notebooks" / f"{name}.ipynb")
        assert "<Figure size" not in page and page.count("data:image/png;base64,") >= 4 and '<div class="ri">' in page


def test_the_sites_search_asks_for_no_word_that_says_nothing() -> None:
    search = tomllib.loads((DOCS.parent / "zensical.toml").read_text(encoding="utf-8"))["project"]["plugins"]["search"]
    words = re.split(search["separator"], "How do I set a threshold for the judge?")
    assert [word for word in words if word] == ["set", "threshold", "judge"]
