"""One pass over all results of a file, for what has to be known before one of them is a sample."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from itertools import groupby

from benchbook.errors import InputError
from benchbook.exchange.conversations import as_text
from benchbook.exchange.log import LogNote, LogScorer
from benchbook.exchange.promptfoo.forms import ResultFile
from benchbook.exchange.promptfoo.judged import is_unreadable
from benchbook.exchange.promptfoo.results import Case, Prompt, Result
from benchbook.exchange.promptfoo.samples import (
    NAMED,
    NO_CHECKS,
    SCORE,
    checks_of,
    is_cached,
    judge_of,
    model_name,
)
from benchbook.text import plural

_MOST_TESTS = 10_000_000
_MOST_COLUMNS = 10_000
_MOST_SCORERS = 2_000
_STRIPPED = "[prompt stripped]"


class ColumnSeen:
    """A column, as its results show it."""

    def __init__(self) -> None:
        self.model: str | None = None
        self.label: str | None = None
        self.n = 0
        self.templated = False  # a metric's name has more in it than variables
        self.doubled: Counter[int] = Counter()  # results of a test case beyond the first
        self._judges: dict[str, set[str]] = {SCORE: set()}  # of each scorer
        self._seen = bytearray()  # the test cases that have a result
        self._counts: Counter[str] = Counter()

    @property
    def scorers(self) -> tuple[LogScorer, ...]:
        return tuple(LogScorer(name=name, judge=", ".join(sorted(who)) or None) for name, who in self._judges.items())

    @property
    def notes(self) -> list[LogNote]:
        n = self._counts
        said = {
            "doubled_result": f"{plural(n['doubled_result'], 'result')} beside a later one of the same test case",
            "cached": f"{plural(n['cached'], 'answer')} from promptfoo's cache: the latency is not the model's",
            "unchecked": f"{plural(n['unchecked'], 'result')} without any assertion: promptfoo's score for it is 1",
            "unreadable_reply": f"{plural(n['unreadable_reply'], 'reply', 'replies')} of a judge that could not be "
            "read: promptfoo's scores count it as 0",
        }
        return [LogNote(code=code, words=words, n=n[code]) for code, words in said.items() if n[code]]

    def add(self, result: Result, case: Case) -> None:
        self._count(result)
        if result.failed_to_answer:
            return
        if (own := result.ours) is not None:
            self._judges.update((NAMED + name, set()) for name in own.scores if NAMED + name not in self._judges)
            return
        for name, grading in checks_of(result):
            judges = self._judges.setdefault(name, set())
            if (judge := judge_of(grading, result, case)) and len(judges) < 5:
                judges.add(judge)
            check = grading.assertion
            self.templated |= check is not None and "{{" in (check.metric_name(result.vars or {}) or "")
        for metric in result.named_scores or ():
            self._judges.setdefault(NAMED + metric, set())

    @property
    def n_scorers(self) -> int:
        return len(self._judges)

    def _count(self, result: Result) -> None:
        self.n += 1
        grading = result.grading_result
        self._counts["cached"] += is_cached(result)
        self._counts["unchecked"] += (
            grading is not None and not grading.component_results and grading.reason == NO_CHECKS
        )
        self._counts["unreadable_reply"] += sum(is_unreadable(one) for one in result.components)
        self._seen.extend(bytes(max(0, result.test_idx + 1 - len(self._seen))))
        if self._seen[result.test_idx]:
            self.doubled[result.test_idx] += 1
            self._counts["doubled_result"] += 1
        self._seen[result.test_idx] = 1


class Survey:
    """A file's columns, and which test cases repeat others.

    promptfoo gives each repeat of a test case an index of its own. Test cases that are the same in all that the file
    has of them are one item, asked again.
    """

    def __init__(self, file: ResultFile) -> None:
        self.columns: dict[int, ColumnSeen] = {}
        self.repeats: dict[int, tuple[int, int]] = {}  # the first test case that is the same, and how many came before
        self._file = file
        self._most_repeats = 1  # as our own results say
        self._digests = array("Q")  # of each test case; 0: not known
        for where, result in file.results():
            self._add(where, result)
        self._find_repeats()
        self.n_repeats = max(self._most_repeats, *(1 + repeat for _, repeat in self.repeats.values()), 1)

    def _add(self, where: str, result: Result) -> None:
        if not 0 <= result.test_idx < _MOST_TESTS:
            raise self._off(where, "testIdx", result.test_idx, _MOST_TESTS)
        if not 0 <= result.prompt_idx < _MOST_COLUMNS:
            raise self._off(where, "promptIdx", result.prompt_idx, _MOST_COLUMNS)
        case, own = result.case(self._file.path, where), result.ours
        self._most_repeats = max(self._most_repeats, 1 if own is None else own.repeat + 1)
        column = self.columns.setdefault(result.prompt_idx, ColumnSeen())
        if column.model is None:
            column.model = model_name(result.provider)
            column.label = as_text(result.prompt.label) if isinstance(result.prompt, Prompt) else None
        column.add(result, case)
        if column.n_scorers > _MOST_SCORERS:
            raise InputError(
                self._file.path,
                field=where,
                found=f"a scorer beyond {_MOST_SCORERS:,} others in one column",
                expected="named scores that recur",
            )
        self._digests.extend([0] * (result.test_idx + 1 - len(self._digests)))
        if not self._digests[result.test_idx]:
            self._digests[result.test_idx] = _digest_of(result, case)

    def _find_repeats(self) -> None:
        digests = self._digests
        tests = sorted((test for test, digest in enumerate(digests) if digest), key=digests.__getitem__)
        for _, same in groupby(tests, key=digests.__getitem__):
            first = next(same)
            for repeat, test in enumerate(same, 1):
                self.repeats[test] = first, repeat

    def _off(self, where: str, name: str, value: int, most: int) -> InputError:
        return InputError(
            self._file.path, field=f"{where}.{name}", found=str(value)[:40], expected=f"0 to {most - 1:,}"
        )


def _digest_of(result: Result, case: Case) -> int:
    """A number by which the same test cases are known; 0 where the file leaves out what tells them apart."""
    data = bytes(result.test_case)
    if not case.vars:
        prompt = as_text(result.prompt.raw if isinstance(result.prompt, Prompt) else result.prompt)
        if prompt in (None, _STRIPPED):
            return 0
        data += b"\0" + (prompt or "").encode()
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest())
