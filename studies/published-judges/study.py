"""From the fetched files to results.json, the page and its pictures.

    python study.py DATA [--llmbar FOLDER]    DATA as fetch.py writes it; FOLDER as docs/examples/llmbar.py takes it
    python study.py --again                   the page and its pictures alone, from results.json and records.json

About six minutes of a core that is free. Nothing of the data is written: figures alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from published_judges.figures import pictures_of
from published_judges.page import judges_of, page_of
from published_judges.readers import READERS
from published_judges.readers.alpaca_eval import arena_elo
from published_judges.readers.summeval import experts_differ
from published_judges.sources import HOME, read_sources
from published_judges.summary import results

RESULTS = HOME / "results.json"
RECORDS = HOME / "records.json"
DOCS = HOME.parent.parent / "docs"


def main() -> int:
    asked = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    asked.add_argument("data", type=Path, nargs="?", help="the folder that fetch.py wrote")
    asked.add_argument("--llmbar", type=Path, help="the folder with LLMBar's judgements.csv")
    asked.add_argument("--again", action="store_true", help="write the page and its pictures alone")
    given = asked.parse_args()
    if given.again is (given.data is not None):
        asked.error("give either DATA or --again")
    if given.data is not None:
        RESULTS.write_text(study(given.data, given.llmbar), encoding="utf-8")
    found, records = (json.loads(file.read_text(encoding="utf-8")) for file in (RESULTS, RECORDS))
    (DOCS / "explanation/published-judges.md").write_text(page_of(found, records), encoding="utf-8")
    (HOME / "judges.md").write_text(judges_of(found), encoding="utf-8")
    for name, picture in pictures_of(found).items():
        (DOCS / "pictures" / name).write_text(picture, encoding="utf-8")
    return 0


def study(data: Path, llmbar: Path | None) -> str:
    """The text of results.json.

    Raises: SystemExit where a source is not there.
    """
    sources = read_sources()
    folders = {key: llmbar if key == "llmbar" else data / key for key in sources}
    missing = [str(folder) for folder in folders.values() if folder is not None and not folder.is_dir()]
    if missing:
        raise SystemExit(f"{missing[0]}: no such folder; `python fetch.py {data}` brings what is missing")
    began = time.monotonic()

    def say(doing: str) -> None:
        print(f"{time.monotonic() - began:5.0f} s  {doing}", file=sys.stderr, flush=True)

    say("reading")
    judgements = {key: list(READERS[key](folder)) for key, folder in folders.items() if folder is not None}
    found = results(
        sources,
        judgements,
        elo=arena_elo(data / "alpaca_eval"),
        experts_differ=experts_differ(data / "summeval"),
        say=say,
    )
    say("done")
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.exit(main())
