"""What `benchbook verify` and `benchbook rescore` cost, and how a run's memory grows.

    script/bench records [--samples N] [--json]

Makes two records against a server that answers at once, one of a tenth of the samples and one of all. Goals: each
command within 10 CPU seconds at 100,000 samples; a run of 200,000 samples within 10 MB of one of 20,000.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from overhead import instant_server, measure, run_command, write_evalset


def measure_records(samples: int, connections: int) -> dict[str, Any]:
    few = max(samples // 10, 1)
    with tempfile.TemporaryDirectory(prefix="benchbook-bench-") as name, instant_server(Path(name)) as port:
        folder = Path(name)
        peaks = {}
        for count in (few, samples):
            evalset = folder / f"items-{count}.jsonl"
            write_evalset(evalset, count)
            peaks[count] = measure(run_command(folder, evalset, port, connections, f"run-{count}"))["peak_mb"]
        record = folder / "runs" / f"run-{samples}"
        verify = measure([sys.executable, "-m", "benchbook", "verify", str(record)])
        rescore = measure([sys.executable, "-m", "benchbook", "rescore", str(record), "--reports", "none"])
    return {
        "samples": samples,
        "verify_cpu_s": round(verify["cpu_s"], 2),
        "verify_peak_mb": round(verify["peak_mb"], 1),
        "rescore_cpu_s": round(rescore["cpu_s"], 2),
        "rescore_peak_mb": round(rescore["peak_mb"], 1),
        "run_peak_mb": round(peaks[samples], 1),
        f"run_peak_mb_at_{few}": round(peaks[few], 1),
        "load_average": round(os.getloadavg()[0], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = measure_records(options.samples, options.connections)
    if options.json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        print(f"{name:24} {value}")


if __name__ == "__main__":
    main()
