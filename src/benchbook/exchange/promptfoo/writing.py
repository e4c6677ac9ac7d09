"""Writes a log as promptfoo's JSON of version 3, which its `import` takes, and its page then shows.

A test case is an item, asked with the prompt `{{prompt}}`; each repeat is a row of its own, as promptfoo has them. The
first scorer's value is the result's score, and every scorer's is a check and a named score.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from benchbook.canonical import storable_json
from benchbook.errors import UsageError
from benchbook.exchange.log import ForeignLog, LogHeader, LogSample, LogScore, LogScorer, Lost
from benchbook.exchange.ours import OURS
from benchbook.exchange.promptfoo.ours import config_of, ours_of
from benchbook.exchange.promptfoo.results import ERROR, FAILED
from benchbook.writing import written_new

_PROMPT = "{{prompt}}"
_NO_MODEL = "unknown"
_LOST = {
    "scored_still": "samples that failed and were scored all the same have no score there",
    "unscored": "unscored samples are errors there",
    "unscored_by": "scores that were not given are left out, or a judge's reply that could not be read",
    "verdict": "passes are not known: a score at the top of its scale passes there",
    "guessed": "replies of judges that could only be read by guess are scores like any other",
    "limit": "limits that samples ran into stand in their metadata alone",
    "extracted": "answers as scorers extracted them",
}


def written(log: ForeignLog, target: Path) -> list[Lost]:
    """Write a log into a new file.

    Raises: UsageError where `target` is there; RecordError where it can't be written.
    """
    sums = _Sums()
    try:
        with written_new(target) as file:
            _write(log, file, sums)
    except FileExistsError:
        raise UsageError(f"{target}: is there already; name a new file") from None
    lost = [Lost(what=what, n=sums.lost[name]) for name, what in _LOST.items() if sums.lost[name]]
    if log.header.claims:
        lost.append(Lost(what="numbers of the log: promptfoo has sums of its own", n=len(log.header.claims)))
    return lost


def _write(log: ForeignLog, file: BinaryIO, sums: _Sums) -> None:
    """The results come before the sums over them, so that they need not be held."""
    header = log.header
    about: dict[str, Any] = {"version": 3, "timestamp": header.created_at}
    file.write(b'{"evalId":' + storable_json(_eval_id(header)) + b',"results":' + storable_json(about)[:-1])
    file.write(b',"results":[')
    for n, sample in enumerate(log.samples()):
        result = _result(header, sample, n, sums.lost)
        sums.add(result)
        file.write((b",\n" if n else b"\n") + storable_json(result))
    file.write(b'],"prompts":' + storable_json([_column(header, sums)]) + b',"stats":' + storable_json(sums.stats))
    rest = {"config": _config(header), "shareableUrl": None, "metadata": {"evaluationCreatedAt": header.created_at}}
    file.write(b"}," + storable_json(rest)[1:] + b"\n")


class _Sums:
    """The sums over results that promptfoo keeps of a column."""

    def __init__(self) -> None:
        self.lost: Counter[str] = Counter()
        self._tests: Counter[str] = Counter()
        self._checks: Counter[bool] = Counter()
        self._tokens: Counter[str] = Counter()
        self._named: Counter[str] = Counter()
        self._n_named: Counter[str] = Counter()
        self._score = self._latency = 0.0

    def add(self, result: dict[str, Any]) -> None:
        word = "Pass" if result["success"] else "Error" if result["failureReason"] == ERROR else "Fail"
        self._tests[word] += 1
        self._score += result["score"]
        self._latency += result["latencyMs"]
        response = result.get("response")
        self._tokens.update((response or {}).get("tokenUsage", {}))
        self._tokens["numRequests"] += response is not None
        for check in (result["gradingResult"] or {}).get("componentResults", ()):
            self._checks[check["pass"]] += 1
        for name, value in result["namedScores"].items():
            self._named[name] += value
            self._n_named[name] += 1

    @property
    def tokens(self) -> dict[str, Any]:
        return {name: self._tokens[name] for name in ("prompt", "completion", "cached", "total", "numRequests")}

    @property
    def stats(self) -> dict[str, Any]:
        words = {"successes": "Pass", "failures": "Fail", "errors": "Error"}
        return {name: self._tests[word] for name, word in words.items()} | {"tokenUsage": self.tokens}

    @property
    def metrics(self) -> dict[str, Any]:
        return {
            "score": self._score,
            **{f"test{word}Count": self._tests[word] for word in ("Pass", "Fail", "Error")},
            "assertPassCount": self._checks[True],
            "assertFailCount": self._checks[False],
            "totalLatencyMs": self._latency,
            "tokenUsage": self.tokens,
            "namedScores": dict(self._named),
            "namedScoresCount": dict(self._n_named),
            "cost": 0,
        }


def _result(header: LogHeader, sample: LogSample, n: int, lost: Counter[str]) -> dict[str, Any]:
    overall = sample.scores.get(header.scorers[0].name) if header.scorers else None
    value = overall.value if overall else None
    error = _error(sample, overall)
    passed = False if error else _passes(overall, header.scorers[0], lost)
    lost["unscored"] += error is not None and sample.failure is None
    lost["scored_still"] += sample.failure is not None and value is not None
    lost["limit"] += sample.limit is not None
    checks = [] if error else list(_checks(header, sample, lost))
    reason = (overall.explanation if overall else None) or ("All assertions passed" if passed else "Assertion failed")
    return {
        **({"error": error or reason} if not passed else {}),
        "failureReason": ERROR if error else 0 if passed else FAILED,
        "success": passed,
        "score": 0 if error else value,
        "gradingResult": None
        if error
        else {"pass": passed, "score": value, "reason": reason, "namedScores": {}, "componentResults": checks},
        "namedScores": {
            name: score.value for name, score in sample.scores.items() if score.value is not None and not error
        },
        "latencyMs": sample.latency_ms or 0,
        "prompt": {"raw": _asked(sample), "label": _PROMPT},
        "promptId": hashlib.sha256(_PROMPT.encode()).hexdigest(),
        "promptIdx": 0,
        "provider": {"id": header.model or _NO_MODEL, "label": ""},
        "testCase": _case(sample),
        "testIdx": n,
        "vars": _variables(sample),
        "metadata": _metadata(header, sample),
        **_response(sample),
    }


def _error(sample: LogSample, overall: LogScore | None) -> str | None:
    """Why a result has no score: it is an error to promptfoo, which has no other result without one."""
    if sample.failure is not None:
        return sample.failure.message or sample.failure.kind
    if overall is None or overall.value is None:
        return f"unscored: {(overall and overall.unscored) or 'no score'}"
    return None


def _passes(score: LogScore | None, scorer: LogScorer, lost: Counter[str]) -> bool:
    if score is None or score.value is None:
        return False
    if score.passed is not None:
        return score.passed
    if scorer.passes_at is not None:
        return score.value >= scorer.passes_at if scorer.higher_is_better else score.value <= scorer.passes_at
    lost["verdict"] += 1
    best = scorer.highest if scorer.higher_is_better else scorer.lowest
    return score.value == (1 if best is None else best)


def _checks(header: LogHeader, sample: LogSample, lost: Counter[str]) -> Iterator[dict[str, Any]]:
    """A check for each scorer's word. A judge whose reply could not be read is promptfoo's own case."""
    for scorer in header.scorers:
        score = sample.scores.get(scorer.name)
        if score is None:
            continue
        lost["unscored_by"] += score.value is None
        lost["guessed"] += score.guessed is not None
        lost["extracted"] += score.answer is not None
        if score.value is None and scorer.judge is None:
            continue
        passed = score.value is not None and _passes(score, scorer, Counter())
        judged = {"type": "llm-rubric", "provider": scorer.judge} if scorer.judge else {"type": header.tool}
        yield {
            "pass": passed,
            "score": score.value or 0,
            "reason": score.explanation or score.unscored or ("Assertion passed" if passed else "Assertion failed"),
            "assertion": {**judged, "value": scorer.name, "metric": scorer.name},
            **({"metadata": {"graderError": True}} if score.value is None else {}),
        }


def _asked(sample: LogSample) -> str:
    return msgspec.json.encode(sample.messages).decode() if sample.messages else sample.prompt


def _variables(sample: LogSample) -> dict[str, Any]:
    found = {
        "prompt": sample.prompt,
        "reference": "\n".join(sample.references),
        "context": sample.context,
        "choices": "\n".join(sample.choices),
    }
    return {name: value for name, value in found.items() if value or name == "prompt"}


def _case(sample: LogSample) -> dict[str, Any]:
    """The test case, which all repeats of an item have in common: by it they are found."""
    metadata = {"testCaseId": sample.id, "group": sample.group, "category": sample.category}
    return {
        "description": sample.id,
        "vars": _variables(sample),
        "assert": [],
        "metadata": {name: value for name, value in metadata.items() if value is not None},
    }


def _metadata(header: LogHeader, sample: LogSample) -> dict[str, Any]:
    """The sample's own, and beside them what promptfoo has no place for, as `ours` reads it."""
    own = {"repeat": sample.repeat, "limit": sample.limit, "model_reported": sample.model_reported}
    known = {name: value for name, value in own.items() if value is not None and name not in sample.metadata}
    return {**sample.metadata, **known, OURS: ours_of(sample, header, list(known))}


def _response(sample: LogSample) -> dict[str, Any]:
    if sample.failure is not None and (sample.answer, sample.input_tokens, sample.output_tokens) == (None, None, None):
        return {}
    counts = {"prompt": sample.input_tokens, "completion": sample.output_tokens}
    tokens = {name: n for name, n in counts.items() if n is not None}
    usage = {"tokenUsage": {**tokens, "total": sum(tokens.values())}} if tokens else {}
    ended = {"finishReason": sample.finish_reason} if sample.finish_reason else {}
    answer = {} if sample.answer is None else {"output": sample.answer}
    return {"response": {**answer, **usage, **ended, "cached": False}}


def _column(header: LogHeader, sums: _Sums) -> dict[str, Any]:
    return {"raw": _PROMPT, "label": _PROMPT, "provider": header.model or _NO_MODEL, "metrics": sums.metrics}


def _config(header: LogHeader) -> dict[str, Any]:
    model = header.model or _NO_MODEL
    params = {name: value for name, value in header.generation_params.items() if not isinstance(value, dict | list)}
    return {
        "description": header.task,
        "prompts": [_PROMPT],
        "providers": [{"id": model, "config": params}],
        "metadata": {
            "tool": header.tool,
            "toolVersion": header.tool_version,
            **header.metadata,
            OURS: config_of(header),
        },
    }


def _eval_id(header: LogHeader) -> str:
    """One for each log, so that importing two of them is no conflict, and one of them twice is."""
    if run_id := header.metadata.get("run_id"):
        return f"benchbook-{run_id}"
    identity = storable_json([header.tool, header.task, header.model, header.created_at, dict(header.metadata)])
    return f"benchbook-{hashlib.sha256(identity).hexdigest()[:16]}"
