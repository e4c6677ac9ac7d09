"""What reading and auditing another tool's log costs, beside the tool's own reader.

    script/bench logs [--samples N] [--large] [--json]

Makes a log of Inspect AI of 20,000 samples with messages and events as real ones have them, as an archive of about
25 MB and as JSON of 220 MB. `read` is a pass over all samples as an audit makes it, `audit` is the command, `inspect`
is inspect-ai's own `read_eval_log`, where `script/peers` has installed it. `--large` adds logs of 2 GB. Goals: an
audit of the archive within 2 CPU seconds and 80 MB, and one of 2 GB within the same memory.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measuring import measure

ROOT = Path(__file__).parent.parent
PEERS = Path(os.environ.get("BENCHBOOK_PEERS", ROOT / ".venv-peers")) / "bin" / "python"
WORDS = ["model", "language", "answer", "question", "because", "therefore", "evidence", "sample", "number", "reason"]
READ = """
import sys
from benchbook.exchange.tools import opened_logs
for log in opened_logs(sys.argv[1]):
    with log:
        print(sum(score.value or 0 for sample in log.samples(whole=False) for score in sample.scores.values()))
"""
OWN = "import sys; from inspect_ai.log import read_eval_log; print(len(read_eval_log(sys.argv[1]).samples))"
LARGE = 2 << 30


def samples_of(n: int, *, ballast: int = 0) -> Iterator[dict[str, Any]]:
    """Samples of two turns, with the events that Inspect writes for them; `ballast` bytes more in each's messages."""
    rng = random.Random(7)
    for number in range(1, n + 1):
        words = [rng.choice(WORDS) for _ in range(400)]
        asked, said = " ".join(words[:60]), " ".join(words[60:160])
        value = "C" if rng.random() < 0.6 else "I"
        message = {"id": f"{rng.getrandbits(128):x}", "content": said, "source": "generate", "role": "assistant"}
        messages = [{"id": f"{rng.getrandbits(128):x}", "content": asked, "source": "input", "role": "user"}, message]
        usage = {"input_tokens": 66, "output_tokens": 120, "total_tokens": 186}
        output = {
            "model": "mockllm/model",
            "choices": [{"message": message, "stop_reason": "stop"}],
            "completion": said,
            "usage": usage,
            "time": 0.61,
        }
        if ballast:
            messages.append({"id": "x", "content": "x" * ballast, "source": "generate", "role": "assistant"})
        yield {
            "id": number,
            "epoch": 1,
            "input": asked,
            "target": words[-1],
            "messages": messages,
            "output": output,
            "scores": {"match": {"value": value, "answer": said[-40:], "explanation": said, "history": []}},
            "metadata": {"category": words[200], "difficulty": number % 5},
            "store": {},
            "events": _events(rng, messages, output, value),
            "model_usage": {"mockllm/model": usage},
            "total_time": 0.7,
            "working_time": 0.6,
            "uuid": f"{rng.getrandbits(128):x}",
            "error_retries": [],
            "attachments": {},
        }


def _events(rng: random.Random, messages: list[Any], output: dict[str, Any], value: str) -> list[dict[str, Any]]:
    common = {"timestamp": "2025-02-11T15:17:00-05:00", "working_start": 12.5, "pending": False}
    made = [
        {"event": "sample_init", "sample": {"input": messages[0]["content"], "target": "x"}, "state": {}},
        {"event": "state", "changes": [{"op": "replace", "path": "/messages", "value": messages[:1]}]},
        {
            "event": "model",
            "model": "mockllm/model",
            "input": messages[:1],
            "tools": [],
            "tool_choice": "auto",
            "config": {},
            "output": output,
        },
        {"event": "state", "changes": [{"op": "add", "path": f"/messages/{n}", "value": {}} for n in range(6)]},
        {"event": "score", "score": {"value": value}, "target": value},
    ]
    return [{**common, "span_id": f"{rng.getrandbits(128):x}", **one} for one in made]


def header_of(n: int, right: int) -> dict[str, Any]:
    share = right / n
    spread = (share * (1 - share) / max(n - 1, 1)) ** 0.5
    metrics = {"accuracy": {"name": "accuracy", "value": share}, "stderr": {"name": "stderr", "value": spread}}
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "bench", "model": "mockllm/model", "created": "2025-02-11T15:17:00-05:00", "dataset": {},
                 "config": {"epochs": 1}, "packages": {"inspect_ai": "0.3.200"}},
        "plan": {"name": "plan", "steps": []},
        "results": {"total_samples": n, "completed_samples": n,
                    "scores": [{"name": "match", "scorer": "match", "metrics": metrics}]},
        "stats": {"started_at": "", "completed_at": ""},
    }  # fmt: skip


def write_archive(path: Path, n: int, ballast: int = 0) -> None:
    method = zipfile.ZIP_STORED if ballast else zipfile.ZIP_DEFLATED
    right = 0
    with zipfile.ZipFile(path, "w", method) as archive:
        for sample in samples_of(n, ballast=ballast):
            right += sample["scores"]["match"]["value"] == "C"
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
        archive.writestr("header.json", json.dumps(header_of(n, right)))


def write_json(path: Path, n: int, ballast: int = 0) -> None:
    """As Inspect writes it, with line ends and two spaces, the header before the samples."""
    right = sum(sample["scores"]["match"]["value"] == "C" for sample in samples_of(n))
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps(header_of(n, right), indent=2)[:-2] + ',\n  "samples": [\n')
        for number, sample in enumerate(samples_of(n, ballast=ballast)):
            file.write((",\n" if number else "") + json.dumps(sample, indent=2))
        file.write("\n  ]\n}\n")


def measure_log(path: Path) -> dict[str, Any]:
    """CPU seconds and peak memory of each way to read a log."""
    ways = {
        "read": [sys.executable, "-c", READ, str(path)],
        "audit": [sys.executable, "-m", "benchbook", "audit", str(path), "--json"],
    }
    if PEERS.exists() and path.stat().st_size < LARGE // 2:
        ways["inspect"] = [str(PEERS), "-c", OWN, str(path)]
    found: dict[str, Any] = {"mb": round(path.stat().st_size / 1e6, 1)}
    for name, command in ways.items():
        cost = measure(command)
        found |= {f"{name}_cpu_s": round(cost["cpu_s"], 2), f"{name}_peak_mb": round(cost["peak_mb"], 1)}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--large", action="store_true", help="logs of 2 GB too")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", nargs=3, metavar=("KIND", "PATH", "BALLAST"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        kind, path, ballast = options.write
        (write_archive if kind == "eval" else write_json)(Path(path), options.samples, int(ballast))
        return
    result: dict[str, Any] = {"samples": options.samples, "load_average": round(os.getloadavg()[0], 2)}
    with tempfile.TemporaryDirectory(prefix="benchbook-bench-") as folder:
        for size, ballast in (("", 0), *((("large-", LARGE // options.samples),) if options.large else ())):
            for kind in ("eval", "json"):
                path = Path(folder) / f"{size}log.{kind}"
                write = [__file__, "--write", kind, str(path), str(ballast), "--samples", str(options.samples)]
                measure([sys.executable, *write])  # a child's peak memory begins with what its parent holds
                result[f"{size}{kind}"] = measure_log(path)
                path.unlink()
    print(json.dumps(result) if options.json else _table(result))


def _table(result: dict[str, Any]) -> str:
    lines = []
    for name, value in result.items():
        shown = "  ".join(f"{word} {one}" for word, one in value.items()) if isinstance(value, dict) else str(value)
        lines.append(f"{name:14} {shown}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
