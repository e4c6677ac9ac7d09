"""Which runs are listed: filters as SQLAlchemy expressions, so that nobody's text becomes part of a statement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec
from sqlalchemy import ColumnElement, or_, select

from benchbook.canonical import canonical_json
from benchbook.catalog.database import aggregates, mark_tags, marks, runs
from benchbook.errors import ConfigError

LONGEST_TEXT = 200
INT64 = (1 << 63) - 1


class RunFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which runs are listed: those that fit all that is given."""

    spec: str | None = None
    spec_sha256: str | None = None
    samples_are: str | None = None  # answers or evaluations
    model: str | None = None  # a model_id
    judge: str | None = None  # its model_id; of a panel all of them, as a run's row has it
    eval_set: str | None = None  # a dataset_id, or the SHA-256 of its bytes
    decision: str | None = None
    state: str | None = None
    tag: str | None = None
    archived: bool | None = None  # None: archived or not
    text: str | None = None  # each of its words stands in the run's id, spec, model, judge, eval set or marks
    at_least: Mapping[str, int] = {}  # aggregate -> the least value in billionths


def conditions(wanted: RunFilter) -> Iterator[ColumnElement[bool]]:
    """The conditions that each run that fits meets. Raises: ConfigError for a filter that is none."""
    for column, value in (
        (runs.c.spec, wanted.spec),
        (runs.c.spec_sha256, wanted.spec_sha256),
        (runs.c.samples_are, wanted.samples_are),
        (runs.c.model_id, wanted.model),
        (runs.c.evaluator_model_id, wanted.judge),
        (runs.c.decision, wanted.decision),
        (runs.c.state, wanted.state),
    ):
        if value is not None:
            yield column == value
    if wanted.eval_set is not None:
        yield (runs.c.dataset_id == wanted.eval_set) | (runs.c.dataset_sha256 == wanted.eval_set)
    if wanted.tag is not None:
        tagged = select(mark_tags.c.run_id).where(mark_tags.c.run_id == runs.c.run_id, mark_tags.c.tag == wanted.tag)
        yield or_(tagged.exists(), _tagged_by_itself(wanted.tag))
    if wanted.archived is not None:
        is_archived = _marked(marks.c.archived == 1)
        yield is_archived if wanted.archived else ~is_archived
    for word in _words(wanted.text or ""):
        in_run, in_marks = (table.c.search.contains(word, autoescape=True) for table in (runs, marks))
        yield or_(in_run, _marked(in_marks))
    for name, nano in wanted.at_least.items():
        if abs(nano) > INT64:
            raise ConfigError("at_least", "a number that 64 bits can't hold", "billionths")
        same = (aggregates.c.run_id == runs.c.run_id) & (aggregates.c.name == name)
        yield select(aggregates.c.run_id).where(same, aggregates.c.value_nano >= nano).exists()


def _marked(condition: ColumnElement[bool]) -> ColumnElement[bool]:
    return select(marks.c.run_id).where(marks.c.run_id == runs.c.run_id, condition).exists()


def _tagged_by_itself(tag: str) -> ColumnElement[bool]:
    """A tag that the run was begun with: one of the texts in a JSON array."""
    text = canonical_json(tag).decode("utf-8")
    places = (f"[{text}]", f"[{text},", f",{text},", f",{text}]")
    return or_(*(runs.c.tags.contains(place, autoescape=True) for place in places))


def _words(text: str) -> list[str]:
    if len(text) > LONGEST_TEXT:
        raise ConfigError("text", f"{len(text):,} characters", f"at most {LONGEST_TEXT}")
    return text.casefold().split()
