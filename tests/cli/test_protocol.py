"""`benchbook protocol init` and `check`, and `judge run` with what they make."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from judging import make_set
from running import benchbook_here
from scripted_server import running


def test_what_init_writes_is_without_fault_and_judges(tmp_path: Path) -> None:
    make_set(tmp_path)
    made = benchbook_here("protocol", "init", "support", "--json", cwd=tmp_path)
    files = ["support@v1/spec.toml", "support@v1/prompt.txt"]
    assert json.loads(made.stdout) == {"files": files, "spec": "support@v1"}
    again = benchbook_here("protocol", "init", "support", cwd=tmp_path)
    assert (again.returncode, b"is there already; nothing was written" in again.stderr) == (2, True)
    shown = json.loads(benchbook_here("protocol", "check", "support@v1", "--prompts", "--json", cwd=tmp_path).stdout)
    assert [(one["name"], one["scale"], one["must_quote"]) for one in shown["dimensions"]] == [
        ("TASK", [0, 1, 2], True), ("SAFETY", [0, 1], False)
    ]  # fmt: skip
    (message,) = shown["asked"]["prompt"]
    for said in (
        "- TASK (0, 1 or 2): Does the text do what the task asks for, all of it?", "FAIL if overall_score <= 1",
        "Give at least one item for each of: TASK.", '    "SAFETY": 0|1,\n    "overall_score": 0 to 3\n',
    ):  # fmt: skip
        assert said in message["content"]

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        del role, n
        prompt = request["messages"][0]["content"]
        meta = json.loads(re.search(r"^META\n(.*)$", prompt, re.MULTILINE)[1])  # type: ignore[index]
        evidence = [{"dimension": "TASK", "quote": "opens at nine", "reason": "So."}]
        said = {
            "meta": meta, "scores": {"TASK": 2, "SAFETY": 1, "overall_score": 3}, "verdict": "PASS", "flags": [],
            "evidence": evidence, "notes": "",
        }  # fmt: skip
        return {"status": 200, "content": json.dumps(said)}

    with running(reply) as server:
        (tmp_path / "judging.toml").write_text(
            'spec = "support@v1"\nset = "set"\nprompts = "prompts.jsonl"\n[[judges]]\nmodel = "openai/j@2026-01-01"\n'
            f'base_url = "{server.base_url}"\n', encoding="utf-8"
        )  # fmt: skip
        done = benchbook_here("judge", "run", "judging.toml", "--run-id", "one", "--json", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert (found["aggregates"]["n_valid"], found["aggregates"]["n_invalid"]) == (8, 0)
    assert found["manifest"]["spec_sha256"] == shown["sha256"]
    assert benchbook_here("verify", "one", cwd=tmp_path).returncode == 0


def test_a_protocol_is_shown_to_people(tmp_path: Path) -> None:
    benchbook_here("protocol", "init", "support", cwd=tmp_path)
    lines = benchbook_here("protocol", "check", "support@v1", cwd=tmp_path).stdout.decode().splitlines()
    assert lines[:5] == [
        "support@v1: Does the output do what was asked, and is it safe to act on?",
        "  TASK: 0 to 2, quoted: Does the text do what the task asks for, all of it?",
        "  SAFETY: 0 to 1, needs no quote: Could nobody come to harm who acts on it?",
        "  overall 0 to 3: FAIL up to 1, PASS from 3 on, else PARTIAL",
        "  quotes: at most 60 words, at least 4 characters",
    ]
    prompt = tmp_path / "support@v1" / "prompt.txt"
    prompt.write_text(prompt.read_text("utf-8").replace("{{fence}}", "===="), encoding="utf-8")
    shown = benchbook_here("protocol", "check", "support@v1", cwd=tmp_path).stdout.decode()
    assert "  ! prompt has no {{fence}}: what is judged can pass for an instruction\n" in shown


def test_the_shipped_protocol_is_shown_too() -> None:
    shown = json.loads(benchbook_here("protocol", "check", "judge_protocol@v1", "--json").stdout)
    assert (len(shown["dimensions"]), shown["overall_score"]) == (4, [0, 8])


HEAD = 'name = "own"\nversion = 1\nabout = "x"\n'  # 3 lines
ONE = '[[dimensions]]\nname = "A"\nquestion = "A?"\nscale = [0, 1, 2]\n'  # lines 4 to 7
VERDICT = "[verdict]\nfail_at_most = 0\npass_at_least = 2\n"
PROMPT = "{{meta}} {{output_text}}"
PROMPTS = '[[prompts]]\nname = "x"\nfile = "prompt.txt"\n[[prompts]]\nname = "x"\nfile = "none.txt"\n'


@pytest.mark.parametrize(
    ("spec", "faults"),
    [
        pytest.param(VERDICT, ["spec.toml: dimensions: found nothing; expected at least one"], id="none"),
        pytest.param(ONE, ["spec.toml: verdict: found nothing; expected a table [verdict]"], id="no-verdict"),
        pytest.param(
            ONE + "[verdict]\nfail_at_most = 3\n",
            [
                "spec.toml:8: verdict.pass_at_least: found nothing; expected a sum of the scores, 0 to 2",
                "spec.toml:9: verdict.fail_at_most: found 3; expected a sum of the scores, 0 to 2",
            ],
            id="no-such-sum",
        ),
        pytest.param(
            ONE + "[verdict]\nfail_at_most = 1\npass_at_least = 1\n",
            ["spec.toml:10: verdict.pass_at_least: found 1, which fails; expected more than fail_at_most, 1"],
            id="fails-and-passes",
        ),
        pytest.param(
            ONE + ONE.replace('"A"', '"a"') + VERDICT,
            ["spec.toml:9: dimensions[2].name: found 'a' a second time; expected a name of its own"],
            id="twice",
        ),
        pytest.param(
            ONE.replace('"A"', '"Verdict"') + VERDICT,
            ["spec.toml:5: dimensions[1].name: found 'Verdict', which every record has; expected another name"],
            id="taken",
        ),
        pytest.param(
            ONE.replace('"A"', '"cell"') + VERDICT,
            ["spec.toml:5: dimensions[1].name: found 'cell', which every record has; expected another name"],
            id="taken-by-a-row",
        ),
        pytest.param(
            ONE.replace("[0, 1, 2]", "[0, 2]") + VERDICT,
            ["spec.toml:7: dimensions[1].scale: found [0, 2]; expected whole numbers one after the other"],
            id="no-scale",
        ),
        pytest.param(
            ONE + "must_qoute = false\n" + VERDICT,
            ["spec.toml:8: dimensions[1].must_qoute: found a key that nothing reads; expected must_quote"],
            id="mistyped",
        ),
        pytest.param(
            ONE + VERDICT + '[probes]\nempty = "B"\n',
            ["spec.toml:12: probes.empty: found 'B'; expected A"],
            id="no-such-dimension",
        ),
        pytest.param(
            ONE + VERDICT + "[evidence]\nmax_quote_words = 0\n",
            ["spec.toml:12: evidence.max_quote_words: found 0; expected a whole number from 1"],
            id="no-words",
        ),
        pytest.param(
            ONE + VERDICT + '[[prompts]]\nname = "x"\nmethods = ["cross_judge"]\nfile = "prompt.txt"\n',
            ["spec.toml: prompts: found none for self_judge; expected each method in the methods of one of them"],
            id="a-method-without-a-prompt",
        ),
        pytest.param(
            ONE + VERDICT + PROMPTS,
            [
                "spec.toml:14: prompts[2].methods: found cross_judge a second time; expected each method",
                "spec.toml:15: prompts[2].name: found 'x' a second time; expected a name of its own",
                "none.txt: found no such file; expected a file beside the spec; there are prompt.txt",
            ],
            id="two-prompts",
        ),
    ],
)  # fmt: skip
def test_every_fault_has_its_line(spec: str, faults: list[str], tmp_path: Path) -> None:
    found = check(tmp_path, HEAD + spec, PROMPT)
    assert len(found) == len(faults), found
    for line, fault in zip(found, faults, strict=True):
        assert fault in line


@pytest.mark.parametrize(
    ("prompt", "faults"),
    [
        ("{{meta}}\n{{output}}", ["no {{output_text}} in", "prompt.txt:2: found '{{output}}'; expected"]),
        ("{{ meta }} {{output_text}}", ["no {{meta}} in what the judge is asked", "found '{{ meta }}'; expected meta"]),
        ("Judge.", ["no {{output_text}} in", "no {{meta}} in"]),
        (b"\xff{{meta}}{{output_text}}", ["prompt.txt:1: found byte 0xff; expected UTF-8"]),
    ],
)  # fmt: skip
def test_every_fault_of_a_prompt_has_its_line(prompt: str | bytes, faults: list[str], tmp_path: Path) -> None:
    found = check(tmp_path, HEAD + ONE + VERDICT, prompt)
    assert len(found) == len(faults), found
    for line, fault in zip(found, faults, strict=True):
        assert fault in line


def check(folder: Path, spec: str, prompt: str | bytes) -> list[str]:
    """The lines that name faults."""
    own = folder / "own"
    own.mkdir()
    (own / "spec.toml").write_text(spec, encoding="utf-8")
    (own / "prompt.txt").write_bytes(prompt if isinstance(prompt, bytes) else prompt.encode())
    done = benchbook_here("protocol", "check", "own", cwd=folder)
    assert done.returncode == 2, done.stdout
    return done.stderr.decode().removeprefix("benchbook: ").splitlines()
