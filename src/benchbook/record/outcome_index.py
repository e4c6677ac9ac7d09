"""Where a scorer's outcomes of samples stand in one journal, or an imported log's."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

from benchbook.record.facts import LogOutcomes, Outcome, Outcomes
from benchbook.record.imported_scores import ImportedOutcome
from benchbook.record.reading import JournalLine
from benchbook.record.sample_places import IN_JOURNAL, IN_JOURNAL_BITS, SamplePlaces, SegmentCache

_READ_FACTS = 4  # of outcomes, decoded and kept: those of one sitting are in plan order


class OutcomeIndex:
    """The place of a scorer's outcome of each sample, or of an imported log's: eight bytes per outcome."""

    def __init__(self, journal: Path) -> None:
        self.places = SamplePlaces()
        self._segments = SegmentCache(journal)
        self._read: OrderedDict[int, dict[int, Outcome | ImportedOutcome]] = OrderedDict()  # by the place of their fact
        self.are_truths = True  # every score is true or false
        self.pythons: set[str] = set()  # versions that the scorer ran under

    def __len__(self) -> int:
        return len(self.places)

    def add(self, line: JournalLine, fact: Outcomes | LogOutcomes) -> None:
        for one in fact.outcomes:
            self.places.append(one.sample, line.segment, line.offset)
        if isinstance(fact, Outcomes):
            self.pythons.add(fact.python)
            self.are_truths = self.are_truths and all(isinstance(one.score, bool | None) for one in fact.outcomes)
        self._segments.forget()

    def let_go(self) -> None:
        """Hold nothing in memory that can be read again."""
        self.places.let_go()
        self._segments.forget()
        self._read.clear()

    def __contains__(self, sample: int) -> bool:
        return self._place_of(sample) is not None

    def of(self, sample: int) -> Outcome | ImportedOutcome | None:
        """The outcome of a sample; the first, if there are several. Asked in plan order, each fact is read once."""
        place = self._place_of(sample)
        return None if place is None else self._outcomes_at(place)[sample]

    def _place_of(self, sample: int) -> int | None:
        places, start = self.places.in_order(), self.places.start_of(sample)
        if start == len(places) or places[start] >> IN_JOURNAL_BITS != sample:
            return None
        return places[start] & IN_JOURNAL

    def _outcomes_at(self, place: int) -> dict[int, Outcome | ImportedOutcome]:
        known = self._read.get(place)
        if known is not None:
            return known
        fact = self._segments.fact_at(place)
        known = self._read[place] = {one.sample: one for one in reversed(fact.outcomes)}
        if len(self._read) > _READ_FACTS:
            self._read.popitem(last=False)
        return known
