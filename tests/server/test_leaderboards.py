"""The leaderboard of an eval set: every run of it, ranked or apart with the reason; and what it is ranked by."""

from __future__ import annotations

from pathlib import Path

from server.making import Api


def test_a_run_whose_table_can_not_be_read_takes_the_board_from_no_other(writing: Api) -> None:
    runs = Path(writing.app.services.settings.runs)
    address = _board(writing)
    assert [one["run"] for one in writing.json(address)["places"]] == ["a", "b", "c"]
    (runs / "b" / "samples.parquet").write_bytes(b"PAR1 and no more")
    writing.app.services.kept.drop(("contender", "score", _name(writing, "b")))
    found = writing.json(f"{address}&confidence=0.9")
    assert [one["run"] for one in found["places"]] == ["a", "c"]
    (said,) = (one["reason"] for one in found["apart"] if one["run"] == "b")
    assert said.startswith("samples.parquet: ")
    assert str(runs) not in said


def test_it_is_ranked_by_another_number_if_asked(api: Api) -> None:
    address = _board(api)
    found = api.json(f"{address}&metric=contained")
    assert (found["metric"], [one["title"] for one in found["metrics"]]) == (
        "contained", ["Score", "Answer in the text (diagnosis)"],
    )  # fmt: skip
    status, detail = api.problem(f"{address}&metric=%22%0d%0ax%3a%20y")
    assert (status, "can be ranked by; expected score, contained" in detail) == (422, True)


def _board(api: Api) -> str:
    sets = api.json("/api/v1/evalsets")["evalsets"]
    return f"/api/v1/leaderboards?dataset={next(row for row in sets if row['best'] == 0.4)['dataset_sha256']}"


def _name(api: Api, run: str) -> str:
    return str(api.app.services.finished(run).name)
