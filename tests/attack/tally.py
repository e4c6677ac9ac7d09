"""What was tried, what held, and what did not: counted by attack and by what was attacked, over all workers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BEGIN = "<!-- the table: script/test --attack --write-table -->"
END = "<!-- the table's end -->"
_MOST_SHOWN = 5


@dataclass
class Tally:
    """The outcomes of one kind of attack on one kind of thing. Whatever is tried has held, failed, or is excepted."""

    attack: str
    target: str
    held: int = 0
    failures: list[str] = field(default_factory=list)  # each in words by which it is tried again
    excepted: Counter[str] = field(default_factory=Counter)  # by reason

    @property
    def tried(self) -> int:
        return self.held + len(self.failures) + self.excepted.total()

    def count(self, fault: str | None) -> None:
        """Count one attempt: None for one that held, else what went wrong and how it was done."""
        if fault is None:
            self.held += 1
        else:
            self.failures.append(fault)

    def add(self, other: Tally) -> None:
        self.held += other.held
        self.failures += other.failures
        self.excepted += other.excepted

    def shown(self) -> str:
        """The first failures, for the test's own message."""
        more = len(self.failures) - _MOST_SHOWN
        return "\n".join([*self.failures[:_MOST_SHOWN], *([f"… and {more} more"] if more > 0 else [])])


def write(folder: Path, worker: str, tally: Tally) -> None:
    """Append a tally to its worker's file."""
    line = {**vars(tally), "excepted": dict(tally.excepted)}
    with (folder / f"{worker}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def merged(folder: Path) -> list[Tally]:
    """The tallies of all workers, one for each attack and target."""
    found: dict[tuple[str, str], Tally] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            fields: dict[str, Any] = json.loads(line)
            one = Tally(**{**fields, "excepted": Counter(fields["excepted"])})
            found.setdefault((one.attack, one.target), Tally(one.attack, one.target)).add(one)
    return [found[key] for key in sorted(found)]


def table(tallies: Iterable[Tally]) -> str:
    """The table in Markdown: a line for each attack and target, a sum for each attack, and every exception's reason."""
    tallies = list(tallies)
    lines = ["| attack | on | tried | held | excepted | failed |", "| --- | --- | ---: | ---: | ---: | ---: |"]
    for attack in dict.fromkeys(one.attack for one in tallies):
        of_it = [one for one in tallies if one.attack == attack]
        lines += [_line(one.attack, one.target, one) for one in of_it]
        whole = Tally(attack, "")
        for one in of_it:
            whole.add(one)
        lines.append(_line(f"**{attack}**", "**all**", whole))
    reasons = Counter[tuple[str, str]]()
    for one in tallies:
        reasons.update({(one.attack, reason): n for reason, n in one.excepted.items()})
    if reasons:
        lines += ["", "| excepted | times | why |", "| --- | ---: | --- |"]
        lines += [f"| {attack} | {n:,} | {reason} |" for (attack, reason), n in sorted(reasons.items())]
    return "\n".join(lines)


def _line(attack: str, target: str, one: Tally) -> str:
    return f"| {attack} | {target} | {one.tried:,} | {one.held:,} | {one.excepted.total():,} | {len(one.failures):,} |"


def replace_table(page: Path, text: str) -> None:
    """Put a table between the marks of a page."""
    before, _, rest = page.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")
