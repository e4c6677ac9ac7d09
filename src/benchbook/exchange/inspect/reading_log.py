"""An Inspect log of either kind: what an archive and a JSON file have in common once their JSON is read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from benchbook.errors import InputError
from benchbook.exchange.inspect.reading_claims import fields_of, scores_of_results
from benchbook.exchange.inspect.reading_forms import InspectHeader, InspectSample, InspectSampleWhole
from benchbook.exchange.inspect.reading_header import log_header
from benchbook.exchange.inspect.reading_judges import InspectJudges
from benchbook.exchange.inspect.reading_ours import is_ours
from benchbook.exchange.inspect.reading_samples import SampleReader
from benchbook.exchange.inspect.reading_values import ScoreNames
from benchbook.exchange.log import ForeignLog, LogNote, LogSample
from benchbook.text import plural

_VERSIONS = range(1, 4)
_FIRST = 10  # samples that are looked at for scorers whose values have several parts

# All that may be noticed of samples: of one thing or several, and what of them.
_NOTES = {
    "edited_score": ("score", "scores", "changed after the eval, by a person or a tool: the last value counts."),
    "invalidated": ("sample", "samples", "declared invalid, which Inspect's numbers count all the same."),
    "no_number": ("value", "values", "no number but another text, which Inspect counts as 0."),
    "null_part": ("part of a value", "parts of values", "null: measured by nobody, and 0 in Inspect's means."),
}


class InspectLog(ForeignLog):
    """Reads samples from whatever `_held` gives."""

    def __init__(self, path: Path, header: InspectHeader, form: str) -> None:
        """Raises: InputError for a version that is not known, and where the first samples make no sense."""
        if header.version not in _VERSIONS:
            expected = f"{_VERSIONS[0]} to {_VERSIONS[-1]}"
            raise InputError(path, field="version", found=str(header.version), expected=expected)
        self.files = {path.name: path}
        self._path, self._own_notes = path, list[LogNote]()
        results = scores_of_results(header.results)
        names, judged = ScoreNames(results), InspectJudges(header, results)
        of_parts = frozenset(self._of_parts(names))
        self.header = log_header(header, form, names, judged, of_parts)
        fields = fields_of(self.header.claims)
        self._is_ours = is_ours(header)
        self._needs_metadata = bool(fields) or self._is_ours
        self._reader = SampleReader(path, header.eval.model, names, judged, fields, is_ours=self._is_ours)

    @abstractmethod
    def _held(self, form: type[InspectSample]) -> Iterator[tuple[InspectSample, str]]:
        """Each sample in its own form, and where it stands."""

    def samples(self, *, whole: bool = True) -> Iterator[LogSample]:
        self._reader.begin()
        for sample, where in self._held(InspectSampleWhole if whole or self._needs_metadata else InspectSample):
            yield self._reader.sample(sample, where, whole=whole)

    def notes(self) -> list[LogNote]:
        seen = self._reader.seen
        made = list(self._own_notes)
        for code, (one, many, words) in _NOTES.items():
            if n := seen[code]:
                made.append(LogNote(code=code, words=f"Found {plural(n, one, many)} {words}", n=n))
        if seen["id_number"] and seen["id_digits"]:
            words = "Some ids are numbers, and others texts of digits: 1 and '1' are one item, as they are to Inspect."
            made.append(LogNote(code="ids_of_two_types", words=words, n=seen["id_digits"]))
        return made

    def _of_parts(self, names: ScoreNames) -> Iterator[str]:
        for sample, _ in islice(self._held(InspectSample), _FIRST):
            for scorer, score in (sample.scores or {}).items():
                if score is not None and isinstance(score.value, dict | list) and names.claims_whole(scorer):
                    yield scorer
