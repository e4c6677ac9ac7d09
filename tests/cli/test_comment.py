"""`benchbook comment` over real records."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from forge import forge
from running import benchbook_here, written_words
from scored import ITEMS, scored
from support import ROOT

GOOD = [{"item_id": one["id"], "predicted": one["expected_answer"]} for one in ITEMS]
WORSE = [*GOOD[:3], {"item_id": "d", "predicted": "@octocat"}]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two records that no test changes."""
    folder = tmp_path_factory.mktemp("here")
    scored(folder, GOOD, run_id="before")
    scored(folder, WORSE, run_id="now")
    return folder


def said(here: Path, *words: str, code: int = 0, **env: str) -> tuple[str, str]:
    nothing = {"GITHUB_WORKSPACE": str(here), "CI_PROJECT_DIR": "", "GITHUB_EVENT_PATH": "", "GITHUB_REF": ""}
    done = benchbook_here("comment", *words, cwd=here, env=nothing | env)
    assert done.returncode == code, done.stderr
    return written_words(done.stdout), written_words(done.stderr)


def test_it_is_printed_as_markdown(here: Path) -> None:
    out, err = said(here, "now", "--baseline", "before", "--max-regressions", "0")
    assert out.startswith("<!-- benchbook-comment benchbook -->\n\n# The gate does not hold (`does_not_hold`)\n")
    assert "| d | 1.0000 → 0.0000 | 2.50 | 2.50 | &#64;&#8203;octocat |" in out
    assert err == ""


def test_without_a_baseline_it_is_the_run_s_own_decision(here: Path) -> None:
    out, _ = said(here, "now")
    assert "What changed" not in out
    assert "\n# Score 0.6000 by answer" in out


def test_the_baseline_that_is_set_is_taken(tmp_path: Path) -> None:
    scored(tmp_path, GOOD, run_id="before")
    scored(tmp_path, WORSE, run_id="now")
    assert benchbook_here("baseline", "set", "before", cwd=tmp_path).returncode == 0
    assert "- **Baseline**: before" in said(tmp_path, "now")[0]


def test_files_are_written(here: Path, tmp_path: Path) -> None:
    out, _ = said(
        here, "now", "--baseline", "before", "--out", f"{tmp_path}/c.md", "--sarif", f"{tmp_path}/s.sarif", "--json"
    )
    found = json.loads(out)
    assert (found["run"], found["outcome"], found["posted"]) == ("now", "undecided", None)
    assert found["written"] == [f"{tmp_path}/c.md", f"{tmp_path}/s.sarif"]
    assert (tmp_path / "c.md").read_text("utf-8") == found["comment"]
    results = json.loads((tmp_path / "s.sarif").read_bytes())["runs"][0]["results"]
    assert [one["locations"][0]["physicalLocation"] for one in results] == [
        {"artifactLocation": {"uri": "items.jsonl", "uriBaseId": "%SRCROOT%"}, "region": {"startLine": 4}},
        {"artifactLocation": {"uri": "items.jsonl", "uriBaseId": "%SRCROOT%"}, "region": {"startLine": 5}},
    ]


def test_annotations_are_all_that_is_printed(here: Path, tmp_path: Path) -> None:
    out, _ = said(here, "now", "--baseline", "before", "--annotations", "--out", f"{tmp_path}/c.md")
    assert [line.partition(",title")[0] for line in out.splitlines()] == [
        "::warning file=items.jsonl,line=4", "::warning file=items.jsonl,line=5"
    ]  # fmt: skip


def test_it_is_posted_and_written_anew(here: Path) -> None:
    with forge(me={"login": "me"}) as server:
        env = {"GITHUB_API_URL": server.url, "GITHUB_REPOSITORY": "o/n", "GITHUB_TOKEN": "ghs_secret0123456789"}
        _, err = said(here, "now", "--post", "github", "--number", "7", **env)
        assert err == f"github: the comment was created: {server.url}/c\n"
        server.comments[0]["user"] = {"login": "me"}
        _, err = said(here, "now", "--baseline", "before", "--post", "github", "--number", "7", **env)
        assert err == f"github: the comment was updated: {server.url}/c\n"
    assert len(server.comments) == 1
    assert "- **Baseline**: before" in server.comments[0]["body"]


def test_where_it_may_not_be_posted_it_is_printed_all_the_same(here: Path) -> None:
    token = "ghs_secret0123456789"
    with forge(refusals=[(403, {}, {"message": f"no right for {token}"})]) as server:
        env = {"GITHUB_API_URL": server.url, "GITHUB_REPOSITORY": "o/n", "GITHUB_TOKEN": token}
        out, err = said(here, "now", "--post", "github", "--number", "7", **env)
    assert out.startswith("<!-- benchbook-comment")
    assert "may not comment here (status 403: no right for" in err
    assert token not in out + err


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("now", "--sarif", "x"), 2, "against a baseline"),
        (("now", "--annotations"), 2, "against a baseline"),
        (("now", "--name", "a\nb"), 2, "--name"),
        (("now", "--annotations", "--json"), 2, "one of them"),
        (("now", "--baseline", "before", "--allow-different", "x"), 2, "allow-different"),
        (("nowhere",), 2, "nowhere"),
        (("now", "--post", "github"), 2, "GITHUB_REPOSITORY"),
    ],
)
def test_mistakes_end_with_2(words: tuple[str, ...], code: int, told: str, here: Path) -> None:
    _, err = said(here, *words, code=code, GITHUB_REPOSITORY="")
    assert told in err


@pytest.mark.parametrize("name", ["judged_gaps", "judgements_unknown", "rubric_panel", "rubric_refused", "score_dry"])
def test_every_kind_of_record_has_a_comment(name: str) -> None:
    """By its journal alone: nothing derived is there."""
    out, _ = said(ROOT, str(ROOT / "tests" / "golden" / "records" / name))
    assert out.startswith("<!-- benchbook-comment benchbook -->\n\n# ")
    assert re.search(r"^- \*\*Record\*\*: `[0-9a-f]{64}`$", out, re.MULTILINE)
