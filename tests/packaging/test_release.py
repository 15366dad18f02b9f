"""What a registry and a forge read of this repository: metadata, versions, workflows, templates, owners, citation."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent.parent
FOLDERS = [".", "integrations/langchain", "integrations/llamaindex", "integrations/haystack"]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def project(folder: str) -> dict:
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_distribution_says_what_a_registry_shows(folder):
    told = project(folder)["project"]
    assert {"Homepage", "Documentation", "Repository", "Issues", "Changelog"} == set(told["urls"])
    assert all(url.startswith("https://") for url in told["urls"].values())
    assert {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13, 14)} <= set(told["classifiers"])
    assert "Operating System :: OS Independent" in told["classifiers"]
    assert told["urls"] == project(".")["project"]["urls"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_link_of_a_readme_is_absolute_on_a_registry(folder):
    text = (ROOT / folder / "README.md").read_text(encoding="utf-8")
    hook = project(folder)["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    shown = text
    for change in hook["substitutions"]:
        shown = re.sub(change["pattern"], change["replacement"].replace("\\1", r"\g<1>"), shown)
    targets = re.findall(r"\]\(([^)]+)\)", shown)
    assert len(targets) == len(re.findall(r"\]\(([^)]+)\)", text)) > 0
    assert all(target.startswith(("https://", "#")) for target in targets)
    home = project(folder)["project"]["urls"]["Homepage"]
    for target in targets:
        if target.startswith(f"{home}/blob/main/"):
            assert (ROOT / target.removeprefix(f"{home}/blob/main/").partition("#")[0]).exists(), target


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_source_distribution_takes_no_file_of_another_folder(folder):
    """A name without a slash before it is taken from every folder: `README.md` would be seven files."""
    taken = project(folder)["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert all(name.startswith("/") and (ROOT / folder / name[1:]).exists() for name in taken)


def version(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / ".ci/version.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_one_version_stands_everywhere():
    found = version()
    assert found.returncode == 0, found.stderr
    assert found.stdout.strip() == project(".")["project"]["version"]
    assert f"[{found.stdout.strip()}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "is no version" in version("newest").stderr


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_a_workflow_says_that_it_has_never_run_and_asks_for_little(file):
    text = file.read_text(encoding="utf-8")
    assert "has never run" in text.splitlines()[0]
    read = yaml.safe_load(text)
    assert read["permissions"] == {"contents": "read"}
    for job in read["jobs"].values():
        for script in (step["run"] for step in job["steps"] if "run" in step):
            assert "${{" not in script, "text of an event does not go into a script"


def test_an_action_is_named_by_its_commit():
    """A tag can be moved to other code; a commit cannot."""
    used = re.findall(r"uses: (\S+)(.*)", "\n".join(file.read_text("utf-8") for file in WORKFLOWS))
    assert used
    for action, version in used:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r" # v\d+(\.\d+){2}", version), action


def test_the_paths_of_the_owners_exist():
    lines = (ROOT / ".github/CODEOWNERS").read_text(encoding="utf-8").splitlines()
    rules = [line.split() for line in lines if line and not line.startswith("#")]
    assert rules[0][0] == "*"
    for path, *owners in rules[1:]:
        assert (ROOT / path.strip("/")).is_dir(), path
        assert owners


@pytest.mark.parametrize("file", sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")), ids=lambda file: file.stem)
def test_the_templates_are_forms(file):
    read = yaml.safe_load(file.read_text(encoding="utf-8"))
    if file.stem == "config":
        assert read["contact_links"]
    else:
        assert read["name"] and read["description"]
        assert {part["type"] for part in read["body"]} <= {"textarea", "input", "dropdown", "markdown", "checkboxes"}


def test_the_citation_can_be_read():
    read = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert read["cff-version"] == "1.2.0"
    assert {"title", "authors", "message", "version", "license"} <= set(read)
    assert read["repository-code"] == project(".")["project"]["urls"]["Repository"]


def test_what_contributing_names_is_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        assert (ROOT / link).exists(), link
    for file in re.findall(r"`(?:pytest |python |bash )?((?:\.ci|tests)/[\w./]+)", text):
        assert (ROOT / file).exists(), file


def test_every_address_of_the_repository_is_the_one_of_the_metadata() -> None:
    """Whoever moves it changes pyproject.toml, and this names the other places."""
    home = project(".")["project"]["urls"]["Repository"]
    owner, name = home.removeprefix("https://github.com/").split("/")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is no clone")
    files = [ROOT / file for file in listed.stdout.splitlines() if Path(file).suffix in TEXT or "CODEOWNERS" in file]
    wrong = {}
    for file in files:
        said = file.read_text(encoding="utf-8")
        found = set(re.findall(rf"github\.com/([\w-]+)/{name}\b", said))
        found |= set(re.findall(r"@([\w-]+)/", said)) if file.name == "CODEOWNERS" else set()
        if found - {owner}:
            wrong[str(file.relative_to(ROOT))] = found
    assert wrong == {}


TEXT = (".md", ".toml", ".yml", ".yaml", ".cff", ".py", ".ipynb")
