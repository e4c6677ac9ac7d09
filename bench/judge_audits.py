"""How often audits of simulated judges find what was planted, and claim what was not.

    script/bench judge_audits [--audits N] [--json]

Each row is so many audits of judges that give 30 % of the answers another score by chance each time, and to one variant
a bias, on so many answers as `plan` asks for (`answers_needed`, by the spread of this judge's differences). Found: that
variant is called biased, or slight. False: another is. Answers: the mean number of verdicts, of those without a look.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from benchbook.judge_audit.effects import JudgedAnswers, JudgeEffect, judge_effects
from benchbook.judge_audit.planning import answers_needed
from benchbook.judge_audit.stages import ends_of_stages, look_at
from benchbook.judge_audit.variants import ORIGINAL, VARIANTS
from judge_audit.made import GRADES, SHARES, answers, judged_anew

SAME = [one.name for one in VARIANTS.values() if one.expected == "same"]
PLANTED = {"again": "drift", "longer": "length", "named_self": "its own name"}
_LARGE = 200_000


@dataclass(frozen=True, slots=True)
class Row:
    """Shares of `audits`; `used` is of the verdicts that an audit without early looks takes."""

    planted: str
    bias: float
    until_decided: bool
    n: int
    audits: int
    found: float | None
    false: float
    used: float


def simulated(planted: str | None, bias: float, n: int, audits: int, *, until_decided: bool, seed: int) -> Row:
    """Audits of judges with this bias in one variant, or in none. A drift is in everything that is asked since."""
    rng = np.random.default_rng(seed)
    found = false = 0
    used = 0.0
    for number in range(audits):
        base = rng.choice(GRADES, n, p=SHARES)
        scores = {ORIGINAL: base} | {
            name: judged_anew(rng, base, bias if name == planted or planted == "again" else 0.0) for name in SAME
        }
        verdicts, share = _audited(scores, until_decided=until_decided, seed=number)
        found += planted is not None and verdicts[planted] in ("biased", "slight")
        false += any(verdict in ("biased", "slight") for name, verdict in verdicts.items() if name != planted)
        used += share
    return Row(
        planted="nothing" if planted is None else PLANTED[planted],
        bias=bias,
        until_decided=until_decided,
        n=n,
        audits=audits,
        found=None if planted is None else found / audits,
        false=false / audits,
        used=used / audits,
    )


def _audited(scores: Mapping[str, Any], *, until_decided: bool, seed: int) -> tuple[dict[str, str], float]:
    """Each variant's verdict, and the share of the verdicts that was asked for."""
    ends = ends_of_stages(len(scores[ORIGINAL]), until_decided=until_decided)
    reached = dict.fromkeys(scores, 0)  # the stage that each has come to
    for stage in range(len(ends)):
        effects = _effects(scores, ends, reached, seed)
        open_ = {one.variant for one in effects if one.verdict == "not_told"}
        while more := {VARIANTS[name].against for name in open_} - open_ - {ORIGINAL}:
            open_ |= more
        if stage + 1 < len(ends):
            reached |= dict.fromkeys(open_, stage + 1)
    asked = sum(ends[reached[name]] for name in SAME)
    return {one.variant: one.verdict for one in effects}, asked / (len(SAME) * ends[-1])


def _effects(
    scores: Mapping[str, Any], ends: tuple[int, ...], reached: Mapping[str, int], seed: int
) -> tuple[JudgeEffect, ...]:
    judged: dict[str, JudgedAnswers] = {
        name: answers(one if name == ORIGINAL else one[: ends[reached[name]]]) for name, one in scores.items()
    }
    return judge_effects(judged, lambda name: look_at(reached[name], ends, 0.95), margin=0.05, seed=seed)


def needed(bias: float) -> int:
    """The answers that `plan` asks for, by the spread of this judge's differences."""
    rng = np.random.default_rng(0)
    base = rng.choice(GRADES, _LARGE, p=SHARES)
    differences = judged_anew(rng, base, bias) - judged_anew(rng, base, 0.0)
    return answers_needed(abs(float(differences.mean())), sd=float(differences.std()), n_effects=len(SAME)).n_answers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--audits", type=int, default=1_000, help="of judges without a bias; of others a third")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = []
    for until_decided in (False, True):
        rows.append(simulated(None, 0.0, 200, given.audits, until_decided=until_decided, seed=1))
        for planted in PLANTED:
            for bias in (-0.1, -0.2, -0.3):
                found = simulated(
                    planted, bias, needed(bias), max(1, given.audits // 3), until_decided=until_decided, seed=2
                )
                rows.append(found)
    if given.json:
        print(json.dumps([asdict(one) for one in rows], indent=2))
        return
    print("| planted | bias | early looks | answers | found, % | false, % | verdicts asked for, % |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: |")
    for one in rows:
        found = "–" if one.found is None else f"{100 * one.found:.1f}"
        looks = "yes" if one.until_decided else "no"
        print(
            f"| {one.planted} | {one.bias:+.1f} | {looks} | {one.n} | {found} | {100 * one.false:.1f} | "
            f"{100 * one.used:.0f} |"
        )


if __name__ == "__main__":
    main()
