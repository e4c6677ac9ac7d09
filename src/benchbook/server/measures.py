"""What the server counts of itself, in Prometheus' text form. Labels are names of operations, never of runs."""

from __future__ import annotations

import resource
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import accumulate
from threading import Lock

__all__ = ["METRICS_MEDIA", "Measures"]

METRICS_MEDIA = "text/plain; version=0.0.4; charset=utf-8"
_BOUNDS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Measures:
    """Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._buckets: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()
        self.in_flight = 0
        self._started = time.time()

    def note(self, operation: str, status: int, seconds: float) -> None:
        with self._lock:
            self._requests[operation, status] += 1
            self._seconds[operation] += seconds  # type: ignore[assignment]
            buckets = self._buckets.setdefault(operation, [0] * (len(_BOUNDS) + 1))
            buckets[next((place for place, bound in enumerate(_BOUNDS) if seconds <= bound), len(_BOUNDS))] += 1

    def text(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """All of it; `gauges` are further values by name, each with what it means."""
        with self._lock:
            return "\n".join(self._lines(gauges)) + "\n"

    def _lines(self, gauges: Mapping[str, tuple[str, float]]) -> Iterator[str]:
        yield from _head("benchbook_requests_total", "counter", "Requests by operation and status.")
        for (operation, status), n in sorted(self._requests.items()):
            yield f'benchbook_requests_total{{operation="{operation}",status="{status}"}} {n}'
        yield from _head("benchbook_request_seconds", "histogram", "How long requests took.")
        for operation, buckets in sorted(self._buckets.items()):
            for bound, n in zip((*map(str, _BOUNDS), "+Inf"), accumulate(buckets), strict=True):
                yield f'benchbook_request_seconds_bucket{{operation="{operation}",le="{bound}"}} {n}'
            yield f'benchbook_request_seconds_sum{{operation="{operation}"}} {self._seconds[operation]:.6f}'
            yield f'benchbook_request_seconds_count{{operation="{operation}"}} {sum(buckets)}'
        own = {
            "benchbook_requests_in_flight": ("Requests that are being answered.", self.in_flight),
            "process_start_time_seconds": ("When this process began.", self._started),
        }
        for name, (meaning, value) in (own | dict(gauges)).items():
            yield from _head(name, "gauge", meaning)
            yield f"{name} {value}"
        used = resource.getrusage(resource.RUSAGE_SELF)
        yield from _head("process_cpu_seconds_total", "counter", "CPU time of this process.")
        yield f"process_cpu_seconds_total {used.ru_utime + used.ru_stime:.3f}"


def _head(name: str, kind: str, meaning: str) -> tuple[str, str]:
    return f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"
