"""Which runs can be compared with one another, and why others can't: one rule for a comparison and for who picks runs.

Runs of one scorer can, whatever its version: a comparison says what was not the same. So can runs over different eval
sets: the items that ask the same are compared.
"""

from __future__ import annotations

OTHER_SCORER = (
    "{a} was scored under {spec_a}, {b} under {spec_b}: their scores answer different questions; compare runs of one "
    "scorer"
)
NO_ANSWERS = "samples are judges' evaluations of outputs, and no answers to items"


def compared_as(spec: str) -> str:
    """The name of a scorer without its version: runs that have the same can be compared."""
    return spec.partition("@")[0]


def why_never(*, state: str, spec: str | None, samples_are: str | None, has_numbers: bool) -> str | None:
    """Why a run can't be compared with any other; None where it can. `has_numbers`: its derived files are there."""
    if samples_are == "evaluations":
        return f"its {NO_ANSWERS}"
    if not has_numbers:
        return f"it is {state}: its numbers come at its end" if state in _NOT_ENDED else f"it is {state}"
    if spec is None or samples_are is None:
        return "its evaluator is not known here"
    return None


_NOT_ENDED = frozenset({"running", "interrupted", "stopped"})
