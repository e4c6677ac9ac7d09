"""What a benchmark asks beside other runs (SPEC R7.2, R7.3), from derivation 3 on."""

from __future__ import annotations

from benchbook.decisions import Cap
from benchbook.derivations.identity_warnings import identity_caps
from benchbook.derivations.plan import Plan
from benchbook.derivations.state import JournalState
from benchbook.derivations.warnings import roles_of

__all__ = ["BENCHMARK_REPEATS", "benchmark_caps"]

BENCHMARK_REPEATS = 3  # source 000: N >= 3, unless the task has no variance


def benchmark_caps(state: JournalState, plan: Plan) -> list[Cap]:
    """What makes INCONCLUSIVE the best possible decision of a benchmark."""
    caps = [Cap("another_model", text) for text in identity_caps(roles_of(state, plan))]
    if plan.repeats < BENCHMARK_REPEATS and plan.no_variance is not True:
        asked = "once" if plan.repeats == 1 else f"{plan.repeats} times"
        text = (
            f"a benchmark asks for {BENCHMARK_REPEATS} repeats at least, and this one asked {asked} "
            "(no_variance = true declares that answers do not vary)"
        )
        caps.append(Cap("few_repeats", text))
    return caps
