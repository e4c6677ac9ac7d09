"""How often audits of simulated judges find what was planted, and claim what was not.

    script/bench judge_audits [--audits N] [--json]

Of judges that score: so many audits of judges that give 30 % of the answers another score by chance each time, and to
one variant a bias, on so many answers as `plan` asks for (`answers_needed`, by the spread of this judge's differences).
Found: that variant is called biased, or slight. False: another is. Of judges of pairs the order is planted: found by
an audit, and as a leaning by `judge pairs` (`leaning`).
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
from benchbook.judge_audit.effects import JudgedAnswers, JudgeEffect, judge_effects, undecided
from benchbook.judge_audit.planning import answers_needed
from benchbook.judge_audit.stages import ends_of_stages, look_at
from benchbook.judge_audit.variants import ORIGINAL, VARIANTS, variants_for
from benchbook.labels.pairs.ranking import rank_by_pairs
from benchbook.labels.pairs.verdicts import PairedAnswers, Showing
from judge_audit.made import GRADES, SHARES, answers, judged_anew

SAME, SAME_OF_PAIRS = (
    [name for name in variants_for(pairs=pairs) if VARIANTS[name].expected == "same"] for pairs in (False, True)
)
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
        if stage + 1 < len(ends):
            reached |= dict.fromkeys(undecided(effects), stage + 1)
    asked = sum(ends[reached[name]] for name in SAME)
    return {one.variant: one.verdict for one in effects}, asked / (len(SAME) * ends[-1])


def _effects(
    scores: Mapping[str, Any], ends: tuple[int, ...], reached: Mapping[str, int], seed: int
) -> tuple[JudgeEffect, ...]:
    judged: dict[str, JudgedAnswers] = {
        name: answers(one if name == ORIGINAL else one[: ends[reached[name]]]) for name, one in scores.items()
    }
    return judge_effects(judged, lambda name: look_at(reached[name], ends, 0.95), margin=0.05, seed=seed)


def ordered(bias: float, n: int, audits: int, seed: int) -> Row:
    """Audits of judges of pairs that name the answer shown first in so many more of 100 verdicts. False: the order is
    claimed the other way round, or anything else is."""
    rng = np.random.default_rng(seed)
    found = false = 0
    for number in range(audits):
        better = rng.random(n) < 0.5
        asked = (ORIGINAL, *SAME_OF_PAIRS)
        scores = {name: _said(rng, better, bias)[:, int(name == "other_order")].astype(float) for name in asked}
        effects = _effects(scores, (n,), dict.fromkeys(asked, 0), number)
        claimed = {one.variant: one.score.difference for one in effects if one.verdict in ("biased", "slight")}
        found += bias > 0 and (claimed.get("other_order") or 0.0) < 0
        false += any(name != "other_order" or bias == 0 or (change or 0.0) > 0 for name, change in claimed.items())
    return _of_pairs("order", bias, n, audits, found, false)


def leaning(bias: float, n: int, audits: int, seed: int) -> Row:
    """The same judges, in both orders, as `judge pairs` says what they lean to."""
    rng = np.random.default_rng(seed)
    found = false = 0
    for _ in range(audits):
        (ranking,) = rank_by_pairs(_verdicts(rng, bias, n))
        first = ranking.judges[0].first
        assert first is not None
        shown = first.p is not None and first.p <= 0.05
        found += shown and (first.win.estimate or 0.0) > 0.5 and bias > 0
        false += shown and (bias == 0 or (first.win.estimate or 1.0) < 0.5)
    return _of_pairs("order, as a leaning", bias, n, audits, found, false)


def _of_pairs(planted: str, bias: float, n: int, audits: int, found: int, false: int) -> Row:
    return Row(
        planted=f"{planted}, in pairs" if bias else f"nothing, in pairs ({planted})",
        bias=bias,
        until_decided=False,
        n=n,
        audits=audits,
        found=found / audits if bias else None,
        false=false / audits,
        used=1.0,
    )


def _verdicts(rng: np.random.Generator, bias: float, n: int) -> list[PairedAnswers]:
    """Of each pair the better answer, known to the judge in three of four verdicts; or the one that is shown first."""
    said = _said(rng, rng.random(n) < 0.5, bias)
    return [
        PairedAnswers(
            judge="j", item=f"i{k}", model_a="a", model_b="b",
            showings=(Showing(won=float(said[k, 0]), first="a"), Showing(won=float(said[k, 1]), first="b")),
        )
        for k in range(n)
    ]  # fmt: skip


def _said(rng: np.random.Generator, better: Any, bias: float) -> Any:
    """True where answer a won: with a shown first, and with b shown first. `better`: where it is."""
    shape = (better.size, 2)
    sound = better[:, None] ^ (rng.random(shape) < 0.25)
    return np.where(rng.random(shape) < bias, np.array([True, False]), sound)


def pairs_needed(bias: float, n_effects: int) -> int:
    """The pairs that find it: of each, whether a wins shown first, less whether it wins shown second."""
    rng = np.random.default_rng(0)
    said = _said(rng, rng.random(_LARGE) < 0.5, bias).astype(float)
    differences = said[:, 0] - said[:, 1]
    sd = float(differences.std())
    return answers_needed(float(differences.mean()), sd=sd, n_effects=n_effects).n_answers


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
    rows, some = [], max(1, given.audits // 3)
    for until_decided in (False, True):
        rows.append(simulated(None, 0.0, 200, given.audits, until_decided=until_decided, seed=1))
        for planted in PLANTED:
            for bias in (-0.1, -0.2, -0.3):
                found = simulated(planted, bias, needed(bias), some, until_decided=until_decided, seed=2)
                rows.append(found)
    for simulate, n_effects in ((ordered, len(SAME_OF_PAIRS)), (leaning, 1)):
        rows.append(simulate(0.0, 100, given.audits, 3))
        rows += [simulate(bias, pairs_needed(bias, n_effects), some, 4) for bias in (0.1, 0.2, 0.3)]
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
