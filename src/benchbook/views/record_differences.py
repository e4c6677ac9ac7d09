"""Where the records of two runs say otherwise: each value by its name in words, and templates by their text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from benchbook.comparison.compared import Comparison
from benchbook.comparison.text_difference import TextSpan, text_difference
from benchbook.evaluators.document import HTML, TERMINAL, WRITTEN, Block, Columns, ItemBlock, Lines, Quote, Table, table
from benchbook.evaluators.measured import LeafDifference
from benchbook.text import one_line, plural, shorten

TEMPLATE_WORDS: Mapping[str, str] = {"prompt_template": "The prompt template", "judge": "The judge's prompt"}
_TEMPLATE_HASHES: Mapping[str, str] = {
    "prompt_template_version_or_hash": "prompt_template",
    "evaluator_prompt_template_version_or_hash": "judge",
}
_WORDS: Mapping[str, str] = {
    "model_id": "Model",
    "model_version": "Model, as its provider calls it",
    "evaluator_model_id": "Judge",
    "evaluator_model_version": "Judge, as its provider calls it",
    "dataset_id": "Eval set",
    "dataset_version_or_hash": "Eval set, its hash",
    "spec": "Evaluator",
    "spec_sha256": "Evaluator, its hash",
    "prompt_template_id": "Prompt template",
    "prompt_template_version_or_hash": "Prompt template, its hash",
    "evaluator_prompt_template_id": "Judge's prompt",
    "evaluator_prompt_template_version_or_hash": "Judge's prompt, its hash",
    "code_version.benchbook": "Benchbook",
    "code_version.git_sha": "Benchbook, its commit",
    "n_items": "Items",
    "repeats": "Repeats",
    "state": "State of the run",
}
_PARTS: Mapping[str, str] = {  # the beginning of a path, in words; the rest stands as it is
    "generation_params_effective.": "Model's parameter ",
    "generation_params.": "Model's parameter, as asked for, ",
    "evaluator_generation_params_effective.": "Judge's parameter ",
    "evaluator_generation_params.": "Judge's parameter, as asked for, ",
    "environment.packages.": "Package ",
}
_TOLD_BY_HASH = ("inputs.evalset", "inputs.prompt_template", "inputs['spec/")
_LONGEST_VALUE, _BEFORE_CHANGE = 120, 30
_HASH = re.compile(r'"(?:sha256:)?[0-9a-f]{40,64}"')
_ON_A_LINE = 36  # characters of a value that stands beside another on a terminal
_MOST_LINES = 40  # of a template's difference on a terminal
_AROUND = 1  # lines that stay the same, before and behind those that don't


def leaf_values(leaf: LeafDifference, longest: int = _LONGEST_VALUE) -> tuple[str, str]:
    """Both values as JSON; where they are long, from shortly before the place where they differ."""
    a = json.dumps(leaf.a, ensure_ascii=False) if leaf.in_a else "absent"
    b = json.dumps(leaf.b, ensure_ascii=False) if leaf.in_b else "absent"
    start = 0
    if max(len(a), len(b)) > longest:
        same = next((place for place, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
        start = max(0, same - min(_BEFORE_CHANGE, longest // 3))
    return _from(a, start, longest), _from(b, start, longest)


def _from(value: str, start: int, longest: int) -> str:
    return shorten(value if not start else f"…{value[start:]}", longest)


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────────


def metadata_blocks(pair: Comparison) -> tuple[Table, list[Block]]:
    """A row for each name under which the two records have another value; and the same for a terminal, where long
    values stand below one another, none of them cut by the width."""
    leaves = _told_once(pair.metadata)
    columns: Columns = {"What differs": "text", "A": "text", "B": "text"}
    caption = f"The records differ in {plural(len(leaves), 'value')}"
    rows = [(_leaf_word(leaf.path), *leaf_values(leaf)) for leaf in leaves]
    short = [
        (word, *leaf_values(leaf, _ON_A_LINE)) for leaf, (word, *both) in zip(leaves, rows, strict=True) if _fit(both)
    ]
    blocks: list[Block] = [table(caption, columns, short, only=TERMINAL)]
    if leaves and not short:
        blocks.append(Lines((caption,), only=TERMINAL))
    for word, a, b in (row for row in rows if not _fit(row[1:])):
        blocks.append(Lines((word,), apart=False, indent="  ", only=TERMINAL))
        blocks.append(Lines((f"A  {a}", f"B  {b}"), apart=False, indent="    ", only=TERMINAL))
    return table(caption, columns, rows, titled=True, only=WRITTEN), blocks


def _fit(values: Sequence[str]) -> bool:
    """True if values may stand side by side: they are short, or hashes, of which a part says enough."""
    return all(len(value) <= _ON_A_LINE or _HASH.fullmatch(value) for value in values)


def _told_once(leaves: Sequence[LeafDifference]) -> list[LeafDifference]:
    """The leaves that say something of their own, those with a name in words first: a setting in `config` may say again
    what the record has elsewhere, parameters that were sent what was asked for, and an input what has its hash."""
    said = {_values(leaf) for leaf in leaves if not leaf.path.startswith("config")}
    sent = {(_last(leaf), *_values(leaf)) for leaf in leaves if "_effective" in leaf.path}
    own = [
        leaf
        for leaf in leaves
        if not (leaf.path.startswith("config") and _values(leaf) in said)
        and not ("generation_params." in leaf.path and (_last(leaf), *_values(leaf)) in sent)
        and not leaf.path.startswith(_TOLD_BY_HASH)
    ]
    order = list(_WORDS)
    return sorted(own, key=lambda leaf: order.index(leaf.path) if leaf.path in _WORDS else len(order))


def _values(leaf: LeafDifference) -> tuple[str, str]:
    return leaf_values(leaf, 10_000)


def _last(leaf: LeafDifference) -> str:
    return leaf.path.rpartition(".")[2]


def _leaf_word(path: str) -> str:
    """A leaf's name in words; its path where there are none."""
    if path in _WORDS:
        return _WORDS[path]
    for beginning, words in _PARTS.items():
        if path.startswith(beginning):
            return one_line(words + path.removeprefix(beginning))
    return one_line(path)


# ── texts ────────────────────────────────────────────────────────────────────────────────────────────────────


def is_told_by_text(pair: Comparison, leaf: LeafDifference) -> bool:
    """True for the hash of a template of which both texts are known, and differ."""
    name = _TEMPLATE_HASHES.get(leaf.path)
    return name is not None and name in dict(_changed(pair))


def _changed(pair: Comparison) -> Iterator[tuple[str, tuple[str, str]]]:
    for name in TEMPLATE_WORDS:
        a, b = (run.whole.templates.get(name) for run in (pair.a, pair.b))
        if a is not None and b is not None and a != b:
            yield name, (a, b)


def template_differences(pair: Comparison) -> dict[str, list[TextSpan]]:
    """The spans that lead from A's text to B's, of each template that changed (`Evaluator.templates`)."""
    return {name: text_difference(a, b) for name, (a, b) in _changed(pair)}


def template_blocks(pair: Comparison) -> Iterator[Block]:
    """The change from A's templates to B's: word by word, and on a terminal the lines in which anything changed."""
    for name, found in template_differences(pair).items():
        a, b = pair.a.whole.templates[name], pair.b.whole.templates[name]
        word = TEMPLATE_WORDS[name]
        quotes = (Quote("From A to B", tuple(found)), Quote("A", a, only=HTML), Quote("B", b, only=HTML))
        yield ItemBlock(word, "another text", "change", "text_changed", quotes=quotes, only=WRITTEN)
        yield Lines((f"{word}: [-in A alone-] {{+in B alone+}}",), only=TERMINAL)
        yield Lines(tuple(_changed_lines(found)), apart=False, indent="    ", only=TERMINAL)


def _changed_lines(found: Iterable[TextSpan]) -> Iterator[str]:
    """The lines that changed, marked, with those around them; `…` stands for others."""
    lines = list(_marked_lines(found))
    near = [
        any(is_changed for _, is_changed in lines[max(0, n - _AROUND) : n + _AROUND + 1]) for n in range(len(lines))
    ]
    shown = [line if is_near else None for (line, _), is_near in zip(lines, near, strict=True)]
    parts = [list(part) if is_there else ["…"] for is_there, part in groupby(shown, key=lambda line: line is not None)]
    told = [line or "" for part in parts for line in part]
    yield from told[:_MOST_LINES]
    if len(told) > _MOST_LINES:
        yield f"… and {plural(len(told) - _MOST_LINES, 'line')} more; --html has all of it"


def _marked_lines(found: Iterable[TextSpan]) -> Iterator[tuple[str, bool]]:
    """Each line with its marks, and whether it has any."""
    marks = {"same": "{}", "deleted": "[-{}-]", "inserted": "{{+{}+}}"}
    line, is_changed = "", False
    for op, text in found:
        for place, part in enumerate(text.split("\n")):
            if place:
                yield line, is_changed
                line, is_changed = "", op != "same"
            line += marks[op].format(part) if part else ""
            is_changed = is_changed or op != "same"
    yield line, is_changed
