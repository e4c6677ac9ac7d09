"""A folder of records of every kind, and a server over it that is asked without a socket."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import httpx

import running
from benchbook.ask.work import run_async
from benchbook.evaluators.protocol.config import judging_config_from_mapping
from benchbook.evaluators.registry import start_run
from benchbook.exchange.asking_pairs import PairsAsked, prepared_pairs
from benchbook.exchange.asking_pairs import go_on as go_on_with_pairs
from benchbook.exchange.auditing_judges import AuditAsked, go_on, prepared_audit
from benchbook.record.folder import Record
from benchbook.server.app import App
from benchbook.server.running import make_app
from benchbook.server.settings import Settings
from catalog.making import start
from judging import make_set, sound_reply
from scored import ITEMS, PREDICTIONS, scored
from scripted_server import always_good
from scripted_server import running as scripted

HOST = "127.0.0.1:8400"
# Model text that is nobody's markup, path, formula or terminal escape.
HOSTILE = (
    "<script>alert(1)</script> \x1b[31m \u202egnirts\u202c =HYPERLINK(1) \x00 \ud800 ../../etc/passwd "
    "'; DROP TABLE runs; --"
)
LOG = [{"step": step, "loss": 2.0 / (step + 1) if step != 5 else float("nan"), "lr": 0.1} for step in range(10)]


def make_records(folder: Path) -> Path:
    """runs/: a, b and c over one set (c with hostile texts, a with training metrics), dry, other (another set), rubric
    and rubric2, live (a run that goes on), experiment (two judges), and broken, whose table was changed; audits/tried,
    of rubric's judge, and audits/begun, which is not complete; pairs/compared of rubric and rubric2, and pairs/begun.
    """
    lines = [json.dumps(row) for row in LOG]
    (folder / "log.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    scored(folder, run_id="a", training_metrics=[str(folder / "log.jsonl")], model="org/m@1")
    scored(folder, ({"item_id": "a", "predicted": "2"}, {"item_id": "b", "predicted": "Lyon"}), run_id="b")
    own = {"correctness": 9, "k\u00e9y": "=1+1"}
    hostile = ({"item_id": "a", "predicted": HOSTILE, "eval_time_ms": 3, **own}, *PREDICTIONS[2:])
    scored(folder, hostile, run_id="c")
    scored(folder, run_id="dry", dry_run=True)
    others = [{**item, "id": f"other-{item['id']}", "prompt": "Another?"} for item in ITEMS[:2]]
    scored(folder, [{"item_id": "other-a", "predicted": "2"}], others, run_id="other")
    with scripted(always_good) as server:
        for run_id in ("rubric", "rubric2"):
            running.run(folder, server, 4, run_id=run_id)
        _audit(folder)
    _pairs(folder)
    make_set(folder)
    with scripted(_judge) as server:
        judges = [{"model": f"openai/{name}@2026-01-01", "base_url": server.base_url} for name in ("j", "k")]
        values = {
            "set": str(folder / "set"), "prompts": str(folder / "prompts.jsonl"), "judges": judges,
            "run_id": "experiment", "runs": str(folder / "runs"),
        }  # fmt: skip
        run_async(start_run(judging_config_from_mapping(values, "test")))
    broken = scored(folder, run_id="broken").record
    broken.samples.write_bytes(broken.samples.read_bytes() + b"x")
    start(folder / "runs", "live")
    return folder / "runs"


def _audit(folder: Path) -> None:
    """Audits of the judge of `rubric`, while it answers."""
    record = Record(folder / "runs" / "rubric")
    for audit_id in ("tried", "begun"):
        asked = AuditAsked(variants=("longer", "other_reference"), audits=str(folder / "audits"), audit_id=audit_id)
        audit = prepared_audit(record, {}, asked).begin()
        if audit_id == "tried":
            run_async(go_on(audit))


def _pairs(folder: Path) -> None:
    """The answers of `rubric` and `rubric2`, by a judge that takes what it sees first; of `begun` nobody was asked."""
    script = folder / "referee.json"
    verdict = {"better_score": "first", "usable_score": "yes", "rationale": "so"}
    script.write_text(json.dumps({"replies": [{"text": json.dumps(verdict)}]}), "utf-8")
    records = [Record(folder / "runs" / name) for name in ("rubric", "rubric2")]
    judge = {"judge": "scripted/referee@1", "judge_path": str(script)}
    for pairs_id in ("compared", "begun"):
        asked = PairsAsked(pairs=str(folder / "pairs"), pairs_id=pairs_id)
        pairs = prepared_pairs(records, judge, asked).begin()
        if pairs_id == "compared":
            run_async(go_on_with_pairs(pairs))


def _judge(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
    """A judge that once quotes what nobody wrote."""
    reply = json.loads(sound_reply(request))
    if reply["meta"]["question_id"] == "q1" and reply["meta"]["judge_model"] == "k":
        reply["evidence"][3]["quote"] = "nobody wrote this <b>here</b>"
    return {"status": 200, "content": json.dumps(reply), "usage": {"prompt_tokens": 9, "completion_tokens": 1}}


class Api:
    """Asks the application as a browser or a program would, and keeps what each answer says of itself in check."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.headers: dict[str, str] = {}

    def ask(self, method: str, url: str, **more: Any) -> httpx.Response:
        headers = {**self.headers, **more.pop("headers", {})}

        async def once() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
                return await client.request(method, url, headers=headers, **more)

        answer = asyncio.run(once())
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        if answer.status_code >= 400 and not answer.headers["content-type"].startswith("text/html"):  # the page says so
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["status"] == answer.status_code
            assert str(self.app.services.settings.runs) not in answer.text
        return answer

    def get(self, url: str, **more: Any) -> httpx.Response:
        return self.ask("GET", url, **more)

    def json(self, url: str, **more: Any) -> Any:
        answer = self.get(url, **more)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def problem(self, url: str, method: str = "GET", **more: Any) -> tuple[int, str]:
        answer = self.ask(method, url, **more)
        assert 400 <= answer.status_code < 500, (answer.status_code, answer.text)
        return answer.status_code, answer.json()["detail"]

    def pages(self, url: str, field: str, limit: int) -> list[Any]:
        """All rows of a list, by its cursors."""
        rows: list[Any] = []
        cursor, mark = "", "&" if "?" in url else "?"
        while True:
            page = self.json(f"{url}{mark}limit={limit}{cursor}")
            assert len(page[field]) <= limit
            rows += page[field]
            if page["next_cursor"] is None:
                return rows
            cursor = f"&cursor={page['next_cursor']}"


def settings(runs: Path, catalog: str, **more: Any) -> Settings:
    return Settings(runs=runs, catalog=catalog, **more)


def api_over(runs: Path, catalog: str, **more: Any) -> Api:
    return Api(make_app(settings(runs, catalog, **more)))


def copied(records: Path, folder: Path) -> Path:
    """The records, for a test that writes, with what lies beside them."""
    for name in ("audits", "pairs"):
        if (beside := records.parent / name).exists():
            shutil.copytree(beside, folder / name, dirs_exist_ok=True)
    return shutil.copytree(records, folder / "runs", dirs_exist_ok=True)
