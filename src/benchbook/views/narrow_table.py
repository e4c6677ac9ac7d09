"""A table of plain cells that fits a terminal's width: long names are cut in their middle, and stay apart by it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

_LEAST = 12  # characters of a column whose names are cut
_GAP = 2  # between two columns
_HEADS = (0.5, 0.75, 0.25, 1.0, 0.0)  # of a cut name, what is its beginning; the first that keeps names apart


def narrow_columns(
    head: Sequence[str], rows: Sequence[Sequence[str]], width: int, names: Collection[str]
) -> list[list[str]] | None:
    """The rows with the cells of the columns `names` cut, the widest first, so that all columns stand within `width`.

    None where that can't be: no name is cut so far that it would read as another one of its column.
    """
    columns = [[row[place] for row in rows] for place in range(len(head))]
    widths = [max(map(len, (name, *column))) for name, column in zip(head, columns, strict=True)]
    least = {place: _least(columns[place], len(head[place])) for place, name in enumerate(head) if name in names}
    while sum(widths) + _GAP * (len(widths) - 1) > width:
        able = [place for place in least if widths[place] > least[place]]
        if not able:
            return None
        widths[max(able, key=lambda place: widths[place])] -= 1
    for place in least:
        columns[place] = cut_apart(columns[place], widths[place])
    return [list(row) for row in zip(*columns, strict=True)]


def cut_apart(names: Sequence[str], width: int) -> list[str]:
    """Each name in at most `width` characters, cut where the most of them stay different."""
    if all(len(name) <= width for name in names):
        return list(names)
    own = set(names)
    share = max(_HEADS, key=lambda share: len({_cut(name, width, share) for name in own}))
    return [_cut(name, width, share) for name in names]


def _cut(name: str, width: int, share: float) -> str:
    if len(name) <= width:
        return name
    n_first = round((width - 1) * share)
    n_last = width - 1 - n_first
    return f"{name[:n_first]}…{name[len(name) - n_last :]}"


def _least(names: Sequence[str], head: int) -> int:
    """The least width in which different names are different."""
    own = list(dict.fromkeys(names))
    longest = max(map(len, own), default=0)
    least = min(max(_LEAST, head), longest)
    while least < longest and len(set(cut_apart(own, least))) < len(own):
        least += 1
    return least
