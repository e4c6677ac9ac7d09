"""Benchbook records of the sources that have what a record needs, held against the study.

    python records.py DATA --to DIR                   DATA as fetch.py writes it; DIR is made
    python records.py DATA --to DIR --only summeval   of this source alone

Records are in DIR/runs, with people's labels of the same answers beside them; what they are made from is in DIR/inputs.
Texts of the sources are in all of these: DIR is for whoever made it. records.json has figures alone, of all sources.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from published_judges.records import SETS
from published_judges.records.checking import FEW_LABELS, checked, held_pairs, summed_up
from published_judges.records.making import make
from published_judges.sources import HOME, Source, read_sources

RECORDS = HOME / "records.json"


def main() -> int:
    asked = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    asked.add_argument("data", type=Path, help="the folder that fetch.py wrote")
    asked.add_argument("--to", type=Path, required=True, help="the folder to make")
    asked.add_argument("--only", action="append", help="a source's key; may be given again")
    given = asked.parse_args()
    unknown = set(given.only or ()) - set(SETS)
    if unknown:
        asked.error(f"there are no records of {min(unknown)}, but of {', '.join(SETS)}")
    if given.to.exists():
        asked.error(f"{given.to} is there already: records are made into a new folder")
    found = records(given.data, given.to, given.only or list(SETS))
    if not given.only:
        RECORDS.write_text(found, encoding="utf-8")
    print(found, end="")
    return 0


def records(data: Path, to: Path, keys: list[str]) -> str:
    """Make the records, and return what there is of each set as the text of records.json.

    Raises: SystemExit where a source is not there.
    """
    missing = [str(data / key) for key in keys if not (data / key).is_dir()]
    if missing:
        raise SystemExit(f"{missing[0]}: no such folder; `python fetch.py {data}` brings what is missing")
    sources, began, found = read_sources(), time.monotonic(), {}
    for key in keys:
        for published in SETS[key](data / key):
            made = make(published, _version(sources[key]), to)
            found[published.key] = {**checked(made), "pairs": summed_up(held_pairs(made))}
            n = len(made.records)
            print(f"{time.monotonic() - began:5.0f} s  {published.key}: {n} records", file=sys.stderr, flush=True)
    return json.dumps({"few_labels": FEW_LABELS, "sets": found}, indent=1, ensure_ascii=False) + "\n"


def _version(source: Source) -> str:
    """The version of models and judges: where what they said is from. A commit alone would pass for the models' own."""
    return f"{source.repository.rpartition('/')[2]}-{source.commit[:8]}"


if __name__ == "__main__":
    sys.exit(main())
