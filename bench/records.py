"""What `benchbook verify` and `benchbook rescore` cost beside what no reader of a journal can leave out.

    script/bench records [--samples N] [--rounds N] [--json]

Two records of judged samples against a server that answers at once, one of a tenth of the samples and one of all, and a
record of as many scored predictions. The floor is measured in the same run, between the commands: a process that reads
the same journal, unseals it, hashes each line and decodes it into a fact, and does no more.

`*_cpu_s` are the user and system time of a command with all the processes that it starts, its start-up included, which
`*_start_cpu_s` tells apart: that of the same command over a record of one sample. `*_ratio` is the whole of it over
the floor's work, whose own start-up is left out; `*_us_per_sample` is without start-up. Medians of the rounds, each
ratio within one round. Peaks are of the largest process; `*_held_mb` of all processes together, looked at ten times a
second, with what they share counted once.
Goals: ratios of at most 6, and 4 in time; a run of 200,000 samples within 10 MB of one of 20,000.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from measuring import measure, measure_watched, show
from overhead import instant_server, run_command, write_evalset

_BENCHBOOK = [sys.executable, "-m", "benchbook"]


def floor(journal: Path) -> None:
    """Read, unseal, hash and decode a journal, and print the CPU seconds of each."""
    import hashlib
    import time

    from benchbook.record.facts import fact_decoder
    from benchbook.record.reading import read_segment, segment_files

    now, sha256, decode = time.process_time, hashlib.sha256, fact_decoder.decode
    read_s = hash_s = decode_s = 0.0
    for path in segment_files(journal):
        start = now()
        lines = read_segment(path).split(b"\n")
        lines.pop()
        unsealed = now()
        for line in lines:
            sha256(line).hexdigest()
        hashed = now()
        for line in lines:
            decode(line)
        read_s, hash_s, decode_s = read_s + unsealed - start, hash_s + hashed - unsealed, decode_s + now() - hashed
    print(json.dumps({"read": read_s, "hash": hash_s, "decode": decode_s}))


def measure_commands(record: Path, one: Path, samples: int, rounds: int) -> dict[str, Any]:
    """`verify` and `rescore` of a record, each round after its floor; `one` is a record of one sample."""
    commands = {"verify": ["verify"], "rescore": ["rescore", "--reports", "none"]}
    found: dict[str, Any] = {}
    floors: list[dict[str, float]] = []
    measured: dict[str, list[dict[str, float]]] = {name: [] for name in commands}
    starts = {
        name: min(measure([*_BENCHBOOK, *words, str(one)])["cpu_s"] for _ in range(rounds))
        for name, words in commands.items()
    }
    for _ in range(rounds):
        floors.append(json.loads(subprocess.check_output([sys.executable, __file__, "--floor", str(record)])))
        for name, words in commands.items():
            measured[name].append(measure_watched([*_BENCHBOOK, *words, str(record)]))
    works = [sum(one.values()) for one in floors]
    found["floor_cpu_s"] = round(statistics.median(works), 3)
    found |= {f"floor_{name}_cpu_s": round(statistics.median(one[name] for one in floors), 3) for name in floors[0]}
    found["floor_us_per_sample"] = round(1e6 * statistics.median(works) / samples, 2)
    for name, rounds_of in measured.items():
        cpu_s = statistics.median(one["cpu_s"] for one in rounds_of)
        ratios = [one["cpu_s"] / work for one, work in zip(rounds_of, works, strict=True)]
        found[f"{name}_cpu_s"] = round(cpu_s, 2)
        found[f"{name}_start_cpu_s"] = round(starts[name], 2)
        found[f"{name}_wall_s"] = round(statistics.median(one["wall_s"] for one in rounds_of), 2)
        found[f"{name}_us_per_sample"] = round(1e6 * (cpu_s - starts[name]) / samples, 1)
        found[f"{name}_ratio"] = round(statistics.median(ratios), 2)
        found[f"{name}_peak_mb"] = round(max(one["peak_mb"] for one in rounds_of), 1)
        found[f"{name}_held_mb"] = round(max(one["held_mb"] for one in rounds_of), 1)
    return found


def measure_judged(folder: Path, port: int, samples: int, connections: int, rounds: int) -> dict[str, Any]:
    few, peaks = max(samples // 10, 1), {}
    for count in dict.fromkeys((1, few, samples)):
        evalset = folder / f"items-{count}.jsonl"
        write_evalset(evalset, count)
        peaks[count] = measure(run_command(folder, evalset, port, connections, f"run-{count}"))["peak_mb"]
    runs = folder / "runs"
    return measure_commands(runs / f"run-{samples}", runs / "run-1", samples, rounds) | {
        "run_peak_mb": round(peaks[samples], 1),
        f"run_peak_mb_at_{few}": round(peaks[few], 1),
    }


def measure_answers(folder: Path, samples: int, rounds: int) -> dict[str, Any]:
    """The same of predictions that were made elsewhere, scored under `answer_correctness@v1`."""
    for count in (1, samples):
        made = folder / f"made-{count}"
        made.mkdir()
        score = str(Path(__file__).with_name("score.py"))
        measure([sys.executable, score, "--write", str(made), "--items", str(count), "--lines"])
        words = ["--evalset", str(made / "items.jsonl"), "--predictions", str(made / "predictions.parquet")]
        where = ["--runs", str(folder / "runs"), "--run-id", f"answers-{count}", "--reports", "none"]
        measure([*_BENCHBOOK, "score", "answer_correctness@v1", *words, *where])
    runs = folder / "runs"
    found = measure_commands(runs / f"answers-{samples}", runs / "answers-1", samples, rounds)
    return {f"answers_{name}": value for name, value in found.items()}


def measure_records(samples: int, connections: int, rounds: int) -> dict[str, Any]:
    found: dict[str, Any] = {"samples": samples, "rounds": rounds, "cores": len(os.sched_getaffinity(0))}
    with tempfile.TemporaryDirectory(prefix="benchbook-bench-") as name:
        folder = Path(name)
        with instant_server(folder) as port:
            found |= measure_judged(folder, port, samples, connections, rounds)
        found |= measure_answers(folder, samples, rounds)
    return found | {"load_average": round(os.getloadavg()[0], 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--floor", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--record", type=Path, help="measure a record that is there, judged or scored")
    parser.add_argument("--one", type=Path, help="with --record: one of a single sample, for what starting costs")
    options = parser.parse_args()
    if options.floor is not None:
        floor(options.floor / "journal")
        return
    if options.record is not None:
        result = measure_commands(options.record, options.one or options.record, options.samples, options.rounds)
    else:
        result = measure_records(options.samples, options.connections, options.rounds)
    show(result, as_json=options.json)


if __name__ == "__main__":
    main()
