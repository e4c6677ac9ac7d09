"""`benchbook judge audit` and `judge card`, as a user sees them."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from judge_audit.made import adds_up, planted_judge, sum_items
from running import benchbook_here
from scripted_server import JUDGE_WORDS, ScriptedServer, running

N = 30
_judge = planted_judge(lambda answer: -1 if "Nothing further needs" in answer else 0)


def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
    prompt = request["messages"][-1]["content"]
    text = _judge(prompt) if JUDGE_WORDS in prompt else adds_up(prompt)["text"]
    return {"status": 200, "content": text, "usage": {"prompt_tokens": 100, "completion_tokens": 10}}


def said(folder: Path, *words: str, code: int = 0) -> str:
    found = benchbook_here(*words, cwd=folder)
    assert found.returncode == code, found.stderr
    return " ".join((found.stdout + found.stderr).decode("utf-8").split())


@pytest.fixture
def folder(tmp_path: Path) -> Any:
    """A folder with a run of sums, whose server is up."""
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(one) + "\n" for one in sum_items(N)), "utf-8")
    with running(reply) as server:
        begin(tmp_path, server)
        yield tmp_path


def begin(folder: Path, server: ScriptedServer) -> None:
    words = ("run", "--evalset", "items.jsonl", "--model", "openai/m@1", "--judge", "openai/j@1", "--run-id", "sums",
             "--model-base-url", server.base_url, "--judge-base-url", server.base_url, "--reports", "none",
             "--judge-input-price", "1", "--judge-output-price", "1")  # fmt: skip
    assert "Judge's card: none. `benchbook judge audit runs/sums` tries what" in said(folder, *words)


def test_what_it_would_ask_is_said_before(folder: Path) -> None:
    shown = said(folder, "judge", "audit", "sums", "--dry-run")
    assert f"tried {N} of {N} answers, in 11 variants: again, longer, shorter" in shown
    assert "not plain: the rule fits none of them" in shown
    assert f"calls {N * 11}, parse retries aside" in shown
    assert re.search(r"cost at most about \$0\.\d+ finds a change of the score by 0\.\d+", shown)
    assert shown.endswith("Nothing was asked.")
    assert not (folder / "audits").exists()
    as_json = json.loads(benchbook_here("judge", "audit", "sums", "--dry-run", "--json", cwd=folder).stdout)
    assert (as_json["calls"], as_json["run_judged"]) == (N * 11, True)


def test_an_audit_its_card_and_a_run_by_the_same_judge(folder: Path) -> None:
    shown = said(folder, "judge", "audit", "sums", "--audit-id", "a")
    assert "Biased, by length" in shown or "No bias is shown, and not all can be told" in shown
    assert "padded 30" in shown
    assert "another item's answer, praised" in shown
    card = json.loads(benchbook_here("judge", "card", "a", "--json", cwd=folder).stdout)
    assert card == json.loads((folder / "audits" / "a" / "card.json").read_text("utf-8"))
    markdown = benchbook_here("judge", "card", "audits/a", "--markdown", "--html", "card.html", cwd=folder).stdout
    assert markdown.startswith(b"# ")
    assert "another item&#39;s reference" in (folder / "card.html").read_text("utf-8").replace("&#x27;", "&#39;")
    assert "audits/a: verified." in said(folder, "verify", "audits/a")
    again = said(folder, "run", "--from", "sums", "--judge", "openai/j@1", "--judge-base-url", "http://127.0.0.1:9/v1",
                 "--reports", "none", "--max-retries", "0", code=3)  # fmt: skip
    assert "Judge's card:" in again


def test_a_limit_on_dollars_is_on_all_of_it(folder: Path) -> None:
    """Each verdict costs 0.00011 dollars: 30 do not fit into 0.005, and what was had counts after."""
    one_by_one = ("--max-connections", "1")
    stopped = said(folder, "judge", "audit", "sums", "--audit-id", "a", "--max-cost-usd", "0.005", *one_by_one, code=3)
    assert "Resume: benchbook judge audit --resume audits/a" in stopped
    assert "is not complete" in said(folder, "judge", "card", "a", code=2)
    stopped = said(folder, "judge", "audit", "--resume", "a", "--max-cost-usd", "0.006", *one_by_one, code=3)
    assert "Resume" in stopped
    card = json.loads(
        benchbook_here("judge", "audit", "--resume", "a", "--max-cost-usd", "1", "--json", cwd=folder).stdout
    )
    assert card["n_verdicts"] == N * 11
    assert float(card["cost_usd"]) == pytest.approx(N * 11 * 0.00011)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("judge", "audit"), "Missing argument 'RUN', the run whose answers are judged again."),
        (("judge", "audit", "nothing"), "not a record"),
        (
            ("judge", "audit", "sums", "--variants", "louder"),
            "variants: found 'louder'; expected some of again, other_order",
        ),
        (("judge", "audit", "sums", "--resume", "a"), "--resume goes on with an audit"),
        (("judge", "audit", "--resume", "a"), "a: no audit of a judge, here or in audits/"),
        (("judge", "card", "sums"), "sums: no audit of a judge, here or in audits/"),
        (("judge", "card", "a", "--json", "--markdown"), "--json and --markdown: one of them"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, words: tuple[str, ...], expected: str) -> None:
    assert expected in said(folder, *words, code=2)


def test_labels_stand_beside_the_card(folder: Path) -> None:
    said(folder, "judge", "audit", "sums", "--audit-id", "a", "--variants", "longer", "--quiet")
    said(folder, "label", "sample", "sums", "--n", "12", "--out", "labels")
    sheet = benchbook_here("label", "export", "labels", "--labeller", "ann", cwd=folder).stdout.decode("utf-8")
    (folder / "sheet.csv").write_text(filled(sheet), encoding="utf-8")
    said(folder, "label", "import", "labels", "sheet.csv", "--labeller", "ann")
    shown = said(folder, "judge", "card", "a", "--labels", "labels")
    assert "Accuracy: the judge agrees with people on" in shown
    as_json = json.loads(benchbook_here("judge", "card", "a", "--labels", "labels", "--json", cwd=folder).stdout)
    assert as_json["people"]["calibration"]["n_labelled"] == 12
    assert as_json["people"]["run_sha256"] == as_json["run_sha256"]


def filled(sheet: str) -> str:
    """The sheet, with full marks everywhere."""
    rows = list(csv.DictReader(io.StringIO(sheet)))
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0].keys())
    writer.writeheader()
    writer.writerows(row | {"accuracy_score": "2", "faithfulness_score": "2"} for row in rows)
    return out.getvalue()
