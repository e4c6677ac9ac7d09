"""Reads a run of HELM: the folder of its five files, which any of them stands for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from benchbook.errors import InputError
from benchbook.exchange.helm.claims import CONTEXT, claims_of
from benchbook.exchange.helm.derived import derived_of, values_of
from benchbook.exchange.helm.form import (
    PER_INSTANCE,
    RUN_SPEC,
    SCENARIO,
    STATE,
    STATS,
    HelmInstance,
    HelmResult,
    HelmRunSpec,
    HelmScenario,
    HelmStat,
    HelmState,
    HelmText,
    key_of,
    number_in,
)
from benchbook.exchange.helm.samples import sample_of, scorer_of
from benchbook.exchange.helm.stats import InstanceTable
from benchbook.exchange.json_stream import JsonArray
from benchbook.exchange.json_text import decoded
from benchbook.exchange.log import ForeignLog, LogHeader, LogNote, LogSample
from benchbook.exchange.tools import Seen

_Form = TypeVar("_Form")
_MOST_REQUESTS = 20_000
_MOST_BYTES = 64 << 20  # of a file that is read whole
_FILES = (RUN_SPEC, SCENARIO, STATE, PER_INSTANCE, STATS)


def recognises(seen: Seen) -> bool:
    """True for the folder of a run, and for one of its files."""
    names = seen.names
    if not seen.is_folder and seen.path.name in _FILES:
        names = frozenset(name for name in _FILES if seen.path.with_name(name).is_file())
    return RUN_SPEC in names and not names.isdisjoint({STATS, STATE, PER_INSTANCE})


def opened(path: Path) -> Sequence[ForeignLog]:
    """The one log of a run. Raises: InputError."""
    return [HelmLog(path if path.is_dir() else path.parent)]


class HelmLog(ForeignLog):
    """One run: of one model on one scenario, in as many trials as training instances were drawn."""

    def __init__(self, folder: Path) -> None:
        spec = _read(folder / RUN_SPEC, HelmRunSpec)
        self._notes: list[LogNote] = []
        there = [name for name in _FILES if (folder / name).is_file()]
        self.files = {name: folder / name for name in there}
        scenario = _read(folder / SCENARIO, HelmScenario) if SCENARIO in there else HelmScenario()
        stats = list(_stats(folder / STATS)) if STATS in there else []
        self._table = InstanceTable(folder / PER_INSTANCE) if PER_INSTANCE in there else None
        self._state = folder / STATE if STATE in there else None
        self._scorers = [] if self._table is None else self._table.scorers
        self._derived = {} if self._table is None else derived_of(stats, self._table)
        self.header = self._header(spec, scenario, stats)
        self._absent = [name for name in (STATE, PER_INSTANCE, STATS) if name not in there]

    def samples(self, *, whole: bool = True) -> Iterator[LogSample]:
        self._notes = [LogNote(code="file_absent", words=f"{name} is not in the folder") for name in self._absent]
        used = 0
        for states, nth, where in self._requests():
            n, values = self._values(states[0], nth)
            used += n
            sample = sample_of(states, nth, values, self._scorers, where, whole=whole)
            sample.metadata |= self._together(states[0], nth, sample.metadata[CONTEXT])
            yield sample
        if self._table is not None and used < self._table.n:
            words = f"statistics in {PER_INSTANCE} are of no request in {STATE}"
            self._notes.append(LogNote(code="stats_without_sample", words=words, n=self._table.n - used))

    def _requests(self) -> Iterator[tuple[list[HelmState], int, str]]:
        """The requests of each sample, with their number among those of the same instance, and their place."""
        if self._state is None:
            yield from self._from_statistics()
            return
        states = enumerate(JsonArray(self._state, ("request_states",), is_all=True))
        read = ((at, decoded(data, HelmState, self._state, within=f"request_states[{at}]")) for at, data in states)
        for key, together in groupby(read, key=lambda one: _key(one[1])):
            del key
            states_of_key = list(islice(together, _MOST_REQUESTS + 1))
            if len(states_of_key) > _MOST_REQUESTS:
                found = f"more than {_MOST_REQUESTS:,} requests of one instance"
                raise InputError(self._state, field=f"request_states[{states_of_key[0][0]}]", found=found)
            for nth, (at, of_one) in enumerate(_apart(states_of_key)):
                yield of_one, nth, f"request_states[{at}]"

    def _from_statistics(self) -> Iterator[tuple[list[HelmState], int, str]]:
        """Samples without any text, where the file of requests is not there."""
        for at, key in enumerate([] if self._table is None else self._table.keys()):
            instance_id, perturbation, trial = msgspec.json.decode(key)
            instance = HelmInstance(HelmText(), instance_id, perturbation=perturbation)
            yield [HelmState(instance, trial, result=HelmResult())], 0, f"{PER_INSTANCE}, instance {at}"

    def _values(self, state: HelmState, nth: int) -> tuple[int, dict[str, float | None]]:
        """`(elements, values)` of the statistics of a request."""
        if self._table is not None:
            for number, found in enumerate(self._table.of(_key(state))):
                if number == nth:
                    return found
        return 0, {}

    def _together(self, state: HelmState, nth: int, context: str) -> dict[str, float]:
        """The numbers of an original and its copies together, which the original holds."""
        wanted = self._derived.get(context)
        if not wanted or nth or self._table is None or state.instance.perturbation is not None:
            return {}
        return values_of(wanted, self._table.variants_of(_key(state)))

    def notes(self) -> list[LogNote]:
        return list(self._notes)

    def close(self) -> None:
        if self._table is not None:
            self._table.close()

    def _header(self, spec: HelmRunSpec, scenario: HelmScenario, stats: list[HelmStat]) -> LogHeader:
        adapter = spec.adapter_spec
        trials = max(1, adapter.num_train_trials)
        name = scenario.name or spec.name.partition(":")[0]
        given = ",".join(f"{key}={value}" for key, value in sorted(spec.scenario_spec.args.items()))
        counts = [number_in(one.mean) or 0 for one in stats if one.name.name == "num_instances" and one.count]
        parameters = msgspec.to_builtins(adapter)
        return LogHeader(
            tool="helm",
            tool_version=None,
            form="HELM run",
            task=f"{name}:{given}" if given else name,
            model=adapter.model or adapter.model_deployment,
            scorers=tuple(scorer_of(one) for one in self._scorers),
            status="complete" if len(self.files) == 5 else "not_known",
            dataset=name,
            n_claimed=round(sum(counts)) * trials if counts and 0 <= sum(counts) < 1 << 53 else None,
            repeats=trials,
            claims=tuple(claims_of(stats, self._table, trials)),
            generation_params={key: one for key, one in parameters.items() if key in _PARAMETERS and one is not None},
            metadata=_identity(spec, scenario),
        )


_PARAMETERS = (
    "method",
    "max_train_instances",
    "num_outputs",
    "temperature",
    "max_tokens",
    "stop_sequences",
    "instructions",
)


def _identity(spec: HelmRunSpec, scenario: HelmScenario) -> dict[str, Any]:
    found = {
        "run": spec.name,
        "scenario_class": spec.scenario_spec.class_name,
        "model_deployment": spec.adapter_spec.model_deployment,
        "description": scenario.description,
        "groups": spec.groups,
    }
    return {name: one for name, one in found.items() if one}


def _key(state: HelmState) -> bytes:
    return key_of(state.instance.id or "", state.instance.perturbation, state.train_trial_index)


def _apart(states: list[tuple[int, HelmState]]) -> Iterator[tuple[int, list[HelmState]]]:
    """The requests of each sample: those of references are one, and any other is one of its own."""
    of_references = [one for _, one in states if one.reference_index is not None]
    if of_references:
        yield states[0][0], of_references
    for at, one in states:
        if one.reference_index is None:
            yield at, [one]


def _stats(path: Path) -> Iterator[HelmStat]:
    for number, data in enumerate(JsonArray(path, is_all=True)):
        yield decoded(data, HelmStat, path, within=f"[{number}]")


def _read(path: Path, form: type[_Form]) -> _Form:
    """A small file, whole. Raises: InputError."""
    if path.exists() and not path.is_file():
        raise InputError(path, found="no file", expected="that of HELM's name")
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputError(path, found=f"a file that can't be read ({error.strerror})") from None
    if len(data) > _MOST_BYTES:
        raise InputError(path, found=f"more than {_MOST_BYTES >> 20} MB", expected="a smaller file")
    return decoded(data, form, path)
