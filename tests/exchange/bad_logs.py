"""Small logs of every form, and what may be wrong with a file: for tests that hold all readers to the same."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import inspect_made
import promptfoo_files
from benchbook.exchange.audit.auditing import audits_of
from benchbook.exchange.tools import seen_at, tool_named
from exchange.batches import test_anthropic_batch, test_gemini_batch, test_openai_batch
from exchange.every_eval_ever import made as eee
from exchange.helm import made as helm
from exchange.lm_eval import harness_files
from exchange.openai_evals import test_reading as openai_evals

Files = dict[str, bytes]


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _lines(*values: Any) -> bytes:
    return b"".join(_json(one) + b"\n" for one in values)


@dataclass(frozen=True)
class Form:
    """A form of file. `files` are those of a valid log, the path that is opened among them; `.` opens the folder."""

    tool: str
    opened: str
    files: Callable[[], Files]

    def laid(self, folder: Path, changed: Mapping[str, bytes] | None = None) -> Path:
        """The log in a folder, some of its files changed."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in {**self.files(), **(changed or {})}.items():
            (folder / name).write_bytes(content)
        return folder / self.opened


def _from_folder(lay: Callable[[Path], Any]) -> Callable[[], Files]:
    def files() -> Files:
        with tempfile.TemporaryDirectory() as folder:
            lay(Path(folder))
            return {one.name: one.read_bytes() for one in sorted(Path(folder).iterdir())}

    return files


def _eval() -> Files:
    return {"log.eval": inspect_made.archive(inspect_made.members())}


def _eval_json() -> Files:
    return {"log.json": _json({**inspect_made.header(), "samples": inspect_made.SAMPLES})}


def _lm_eval(folder: Path) -> None:
    rows = [harness_files.row(n, exact_match=float(n % 2)) for n in range(3)]
    harness_files.write_run(folder, harness_files.results({"sums": {"exact_match,none": 1 / 3}}), {"sums": rows})


def _promptfoo_document() -> dict[str, Any]:
    return promptfoo_files.document(
        [promptfoo_files.result(0), promptfoo_files.failed(1), promptfoo_files.result(2)],
        [{"score": 2, "testPassCount": 2, "testErrorCount": 1}],
        {"successes": 2, "failures": 0, "errors": 1},
    )


def _yaml() -> Files:
    """JSON is YAML but for the beginning by which the form is known."""
    document = _promptfoo_document()
    results = {name: one for name, one in document["results"].items() if name != "version"}
    inner = "".join(f"  {name}: {json.dumps(one)}\n" for name, one in results.items())
    return {"out.yaml": f"evalId: x\nresults:\n  version: 3\n{inner}config: {{}}\n".encode()}


_CSV = (
    b"Description,country,[openai:gpt-x] Capital?,Status,Score,Named Scores,Grader Reason,Comment\r\n"
    b"first,France,Paris,PASS,1.00,{},All assertions passed,\r\n"
    b'second,Spain,"Rome, perhaps",FAIL,0.00,"{""exact"":0}",Expected Madrid,\r\n'
)


def _helm(folder: Path) -> None:
    helm.laid(
        folder,
        [helm.state("id1"), helm.state("id2", said="no")],
        [helm.of_instance("id1", exact_match=1.0), helm.of_instance("id2", exact_match=0.0)],
        [helm.stat("exact_match", 0.5)],
    )


def _openai_evals() -> Files:
    match = [*openai_evals.matched(1, False), *openai_evals.matched(2, True)]
    return {"run.jsonl": _lines(openai_evals.spec(), *match, {"final_report": {"accuracy": 0.5}})}


def _openai_batch() -> Files:
    b = test_openai_batch
    return {
        "results.jsonl": _lines(b.line("a", b.CHAT), b.line("b", b.RESPONSE), b.line("c", error={"code": "x"})),
        "requests.jsonl": _lines(b.asked("a"), b.asked("b"), b.asked("c")),
    }


def _anthropic_batch() -> Files:
    return {"results.jsonl": _lines(
        {"custom_id": "a", "result": test_anthropic_batch.succeeded()},
        {"custom_id": "b", "result": {"type": "errored", "error": test_anthropic_batch.OVERLOADED}},
    )}  # fmt: skip


def _gemini_batch() -> Files:
    return {"results.jsonl": _lines(
        {"key": "a", "response": test_gemini_batch.ANSWER}, {"key": "b", "error": {"code": 3, "message": "no"}},
    )}  # fmt: skip


FORMS: Mapping[str, Form] = {
    "eval": Form("inspect", "log.eval", _eval),
    "eval.json": Form("inspect", "log.json", _eval_json),
    "lm_eval": Form("lm_eval", ".", _from_folder(_lm_eval)),
    "promptfoo.json": Form("promptfoo", "out.json", lambda: {"out.json": _json(_promptfoo_document())}),
    "every_eval_ever": Form("every_eval_ever", f"{eee.NAME}.json", _from_folder(
        lambda folder: eee.laid(folder, [eee.row("s1"), eee.row("s2", 0.0)], eee.result(0.5)))),
    "helm": Form("helm", ".", _from_folder(_helm)),
    "openai_evals": Form("openai_evals", "run.jsonl", _openai_evals),
    "openai_batch": Form("openai_batch", "results.jsonl", _openai_batch),
    "anthropic_batch": Form("anthropic_batch", "results.jsonl", _anthropic_batch),
    "gemini_batch": Form("gemini_batch", "results.jsonl", _gemini_batch),
    "promptfoo.yaml": Form("promptfoo", "out.yaml", _yaml),
    "promptfoo.csv": Form("promptfoo", "out.csv", lambda: {"out.csv": _CSV}),
    "every_eval_ever.jsonl": Form("every_eval_ever", "rows.jsonl", lambda: {
        "rows.jsonl": eee.lines(eee.row("s1"), eee.row("s2", 0.0))}),
    "promptfoo.jsonl": Form("promptfoo", "out.jsonl", lambda: {
        "out.jsonl": _lines(promptfoo_files.result(0), promptfoo_files.failed(1))}),
}  # fmt: skip


# Files that `parsers` has: the parser's name, the form's, and the file's.
LOGS = {
    "log.eval": ("eval", "log.eval"),
    "log.eval.json": ("eval.json", "log.json"),
    "log.every_eval_ever": ("every_eval_ever.jsonl", "rows.jsonl"),
    "log.helm.requests": ("helm", "scenario_state.json"),
    "log.helm.stats": ("helm", "stats.json"),
    "log.openai_evals": ("openai_evals", "run.jsonl"),
    "log.promptfoo.csv": ("promptfoo.csv", "out.csv"),
    "log.promptfoo.json": ("promptfoo.json", "out.json"),
    "log.promptfoo.jsonl": ("promptfoo.jsonl", "out.jsonl"),
    "log.promptfoo.yaml": ("promptfoo.yaml", "out.yaml"),
}


def audit_file(form: str, file: str, data: bytes, folder: Path) -> None:
    """Audit a log, one file of it changed: all samples are read; `recognises` says something of anything."""
    path = FORMS[form].laid(folder / "log", {file: data})
    try:
        tool = tool_named(FORMS[form].tool)
        tool.reading.recognises(seen_at(path))
        list(audits_of(path, tool))
    finally:
        shutil.rmtree(folder / "log")


# ── what may be wrong ────────────────────────────────────────────────────────────────────────────────────────

DEEP = b"[" * 10_000 + b"]" * 10_000
# Instead of a value of any kind: JSON, as bytes, for no library writes all of these.
VALUES: tuple[bytes, ...] = (
    b"null", b"true", b"false", b"0", b"-0", b"-1", b"1", b"0.5", b"1e999", b"-1e999", b"1e308", b"1" + b"0" * 400,
    b"1000000000", b"9223372036854775808", b"-9223372036854775809", b"NaN", b"-Infinity", b'""', b'" "', b'"x"',
    b'"NaN"', b'"1"', b'"\\ud800"', b'"\\u0000"', b'"../../x"', b'"' + b"x" * 3000 + b'"', b"[]", b"{}", b"[[]]",
    b"[{}]", b"[null]", b"[1, 1.5]", b'["a"]', b'{"a": 1}', b'{"": {}}', b'{"a": [null]}', b'{"a": 1, "a": "2"}', DEEP,
)  # fmt: skip
_HERE = "\0here\0"


def changed_values(form: Form) -> Iterator[tuple[str, Files]]:
    """Each value of each JSON file of a log, instead of it each of `VALUES` in turn, and what was done in words."""
    for name, data in form.files().items():
        if not name.endswith((".json", ".jsonl")):
            continue
        lines = data.splitlines() if name.endswith(".jsonl") else [data]
        for number, line in enumerate(lines):
            whole = json.loads(line)
            for place in places(whole):
                head, tail = _with_hole(whole, place)
                for value in VALUES:
                    parts = [*lines[:number], head + value + tail, *lines[number + 1 :]]
                    yield f"{name}:{number + 1} {place}: {value[:30]!r}", {name: b"\n".join(parts) + b"\n"}


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of each value in a JSON value, itself first."""
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*at, key))


def _with_hole(value: Any, place: tuple[Any, ...]) -> tuple[bytes, bytes]:
    """The JSON before and behind the value at a place."""
    if not place:
        return b"", b""
    copy = json.loads(json.dumps(value))
    inner = copy
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = _HERE
    head, _, tail = _json(copy).partition(_json(_HERE))
    return head, tail
