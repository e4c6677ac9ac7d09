"""The workflows: others' code by its commit, no right that a job does not need, and tags that are versions."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from release.tag_is_version import why_not

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PINNED = re.compile(r"uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")
# The rights to write that jobs have: to tell who they are and keep that, to show pages, to make a release.
RIGHTS = {
    ("release", "attest"): {"id-token", "attestations"}, ("release", "pypi"): {"id-token"},
    ("release", "github"): {"contents"}, ("docs", "publish"): {"pages", "id-token"},
}  # fmt: skip


def loaded(path: Path) -> dict[str, Any]:
    return dict(yaml.load(path.read_text("utf-8"), yaml.BaseLoader))


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / "action.yml"], ids=lambda path: path.name)
def test_others_code_is_named_by_its_commit(path: Path) -> None:
    uses = [line.strip().removeprefix("- ") for line in path.read_text("utf-8").splitlines() if "uses:" in line]
    assert [line for line in uses if not PINNED.fullmatch(line)] == []


def test_no_job_may_more_than_it_needs() -> None:
    found = {
        (path.stem, name): {right for right, how in job.get("permissions", {}).items() if how == "write"}
        for path in WORKFLOWS
        for name, job in loaded(path)["jobs"].items()
    }
    assert {job: rights for job, rights in found.items() if rights} == RIGHTS
    for path in WORKFLOWS:
        assert loaded(path)["permissions"] in ({}, {"contents": "read"}), path.name
    assert loaded(WORKFLOWS[-1])["jobs"]["pypi"]["environment"]["name"] == "pypi"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_no_expression_is_put_into_a_script(path: Path) -> None:
    """But what the matrix says, which is written here."""
    scripts = [step["run"] for job in loaded(path)["jobs"].values() for step in job["steps"] if "run" in step]
    assert scripts
    assert [one for one in scripts if re.search(r"\$\{\{(?! matrix\.)", one)] == []


def test_every_script_that_is_run_is_there() -> None:
    named = {name for path in WORKFLOWS for name in re.findall(r"\b(?:script|tests)/[\w/.]+", path.read_text("utf-8"))}
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


@pytest.mark.parametrize(
    ("tag", "says"),
    [("v1.2.0", None), ("1.2.0", "expected v1.2.0"), ("v1.2.1", "expected v1.2.0"), ("v1.2", "expected v1.2.0")],
)
def test_a_tag_is_the_version(tag: str, says: str | None) -> None:
    project = '[project]\nversion = "1.2.0"\n'
    assert (says or "") in (why_not(tag, project, "# Changes\n\n## 1.2.0 (2027-01-01)\n") or "")
    assert (why_not(tag, project, "## 1.2.0\n") is None) == (says is None)
    assert "no heading of 1.2.0" in str(why_not("v1.2.0", project, "## Unreleased\n\n- 1.2.0\n\n## 1.2.01\n"))


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml")), ids=lambda path: path.name
)
def test_an_issue_form_has_what_a_forge_needs(path: Path) -> None:
    form = loaded(path)
    assert form.keys() >= {"name", "description", "body"}
    assert {part["type"] for part in form["body"]} <= {"markdown", "textarea", "input", "dropdown", "checkboxes"}
    assert len({part["id"] for part in form["body"] if "id" in part}) == sum("id" in part for part in form["body"])


def test_a_citation_names_the_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    cited = loaded(ROOT / "CITATION.cff")
    assert (cited["version"], cited["license"], cited["cff-version"]) == (version, "Apache-2.0", "1.2.0")
