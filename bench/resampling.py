"""What resampling and the other long computations of `benchbook.statistics` cost.

    script/bench resampling [--only NAME] [--pairs N] [--resamples N] [--json]

Each job runs in a process of its own; CPU seconds and peak memory are of the whole process, so imports and the making
of the data count. Goal: 10,000 resamples over 100,000 pairs within 3 CPU seconds and 500 MB, whatever the values.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

GOAL_CPU_S, GOAL_MB = 3.0, 500.0


def pairs_of_scores(st: Any, rng: np.random.Generator, n: int, resamples: int) -> None:
    """Every difference another: the engine's hardest case."""
    st.paired_difference(rng.random(n), rng.random(n), method="bca", n_resamples=resamples)


def pairs_of_marks(st: Any, rng: np.random.Generator, n: int, resamples: int) -> None:
    """0, 1 or 2, so five differences: multinomial counts."""
    a, b = rng.integers(0, 3, (2, n))
    st.paired_difference(a, b, method="bca", n_resamples=resamples)


def pairs_in_clusters(st: Any, rng: np.random.Generator, n: int, resamples: int) -> None:
    """Ten pairs a cluster: 10,000 clusters of 100,000 pairs, so every draw is made."""
    clusters = [i // 10 for i in range(n)]
    st.paired_difference(rng.random(n), rng.random(n), clusters=clusters, method="bca", n_resamples=resamples)


def kappa(st: Any, rng: np.random.Generator, n: int, resamples: int) -> None:
    a, b = rng.integers(0, 3, (2, n)).tolist()
    st.cohens_kappa(a, b, (0, 1, 2), weights="quadratic", n_resamples=resamples)


def kappa_in_clusters(st: Any, rng: np.random.Generator, n: int, resamples: int) -> None:
    """Fifty ratings a cluster: 2,000 clusters that differ, the most that get weights before they are resampled."""
    a, b = rng.integers(0, 3, (2, n)).tolist()
    st.cohens_kappa(a, b, (0, 1, 2), clusters=[i // 50 for i in range(n)], n_resamples=resamples)


def scores_in_clusters(st: Any, rng: np.random.Generator, n: int, resamples: int) -> None:  # noqa: ARG001
    """The mean of scores from 0 to 1, ten a cluster; it draws nothing."""
    st.bounded_mean(rng.random(n), clusters=[i // 10 for i in range(n)])


def alpha(st: Any, rng: np.random.Generator, n: int, resamples: int) -> None:
    """Three raters, marks of 0 to 2."""
    st.krippendorff_alpha(rng.integers(0, 3, (3, n)).tolist(), n_resamples=resamples)


def ranking(st: Any, rng: np.random.Generator, n: int, resamples: int) -> None:
    """Ten runs."""
    st.rank_runs({str(i): rng.random(n) for i in range(10)}, n_resamples=resamples)


def sign_flips(st: Any, rng: np.random.Generator, n: int, resamples: int) -> None:
    """A thousand pairs at most, beyond which a ranking takes t; ten draws where the others resample once."""
    st.paired_permutation_test(rng.normal(0.01, 1.0, min(n, 1000)), n_draws=10 * resamples)


def confidence_sequence(st: Any, rng: np.random.Generator, n: int, resamples: int) -> None:  # noqa: ARG001
    """Bounds after each value; it draws nothing."""
    st.confidence_sequence(rng.random(n))


JOBS: dict[str, Callable[[Any, np.random.Generator, int, int], None]] = {
    job.__name__: job
    for job in (
        pairs_of_scores,
        pairs_of_marks,
        pairs_in_clusters,
        kappa,
        kappa_in_clusters,
        scores_in_clusters,
        alpha,
        ranking,
        sign_flips,
        confidence_sequence,
    )
}


def run(name: str, n: int, resamples: int) -> dict[str, Any]:
    """Does one job in this process."""
    import numpy as np

    from benchbook import statistics as st

    started = time.process_time()
    JOBS[name](st, np.random.default_rng(1), n, resamples)
    job_s = time.process_time() - started
    usage = resource.getrusage(resource.RUSAGE_SELF)
    per_mb = 1024**2 if sys.platform == "darwin" else 1024  # bytes there, kilobytes on Linux
    return {
        "job": name,
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 2),
        "job_cpu_s": round(job_s, 2),
        "peak_mb": round(usage.ru_maxrss / per_mb, 1),
    }


def run_apart(name: str, n: int, resamples: int) -> dict[str, Any]:
    """Does one job in a process of its own."""
    command = [sys.executable, __file__, "--here", "--only", name, "--pairs", str(n), "--resamples", str(resamples)]
    done = subprocess.run([*command, "--json"], check=True, stdout=subprocess.PIPE, encoding="utf-8")
    return dict(json.loads(done.stdout))


def show(found: dict[str, Any]) -> None:
    mark = "" if found["cpu_s"] < GOAL_CPU_S and found["peak_mb"] < GOAL_MB else "  over the goal"
    print(f"{found['job']:20} {found['cpu_s']:7.2f} CPU s {found['peak_mb']:8.1f} MB{mark}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=sorted(JOBS))
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument("--json", action="store_true", help="a line a job")
    parser.add_argument("--here", action="store_true", help="in this process (for a profiler); needs --only")
    options = parser.parse_args()
    if options.here and not options.only:
        parser.error("--here needs --only")
    for name in [options.only] if options.only else JOBS:
        found = (run if options.here else run_apart)(name, options.pairs, options.resamples)
        if options.json:
            print(json.dumps(found), flush=True)
        else:
            show(found)
    if not options.json:
        print(f"load average {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()
