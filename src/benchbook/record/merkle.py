"""Merkle trees by RFC 9162, section 2.1: one hash over many leaves, and short proofs that a leaf is among them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

HASH_BYTES = 32


def leaf_hash(data: bytes) -> bytes:
    """The hash of a leaf. Its first byte tells it from a node's: none can be shown in the place of the other."""
    return sha256(b"\0" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of a node over two others."""
    return sha256(b"\1" + left + right).digest()


class TreeHash:
    """The root over leaves that come one by one: it keeps one hash for each bit of their number."""

    def __init__(self) -> None:
        self.n_leaves = 0
        self._whole: list[bytes] = []  # roots of whole subtrees, the largest first

    def add(self, leaf: bytes) -> None:
        """Add the hash of the next leaf."""
        whole, n = self._whole, self.n_leaves
        while n & 1:
            leaf = node_hash(whole.pop(), leaf)
            n >>= 1
        whole.append(leaf)
        self.n_leaves += 1

    def root(self) -> bytes:
        """The root over the leaves so far; of none, the hash of nothing."""
        if not self._whole:
            return sha256(b"").digest()
        *before, root = self._whole
        for left in reversed(before):
            root = node_hash(left, root)
        return root


def root_of(leaves: Iterable[bytes]) -> bytes:
    """The root over the hashes of leaves."""
    tree = TreeHash()
    for leaf in leaves:
        tree.add(leaf)
    return tree.root()


def path_of(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """The proof that a leaf is at `index`: the hashes beside its way up to the root, the lowest first (2.1.3.1)."""
    level, path = leaves, list[bytes]()
    while len(level) > 1:
        beside = index ^ 1
        if beside < len(level):
            path.append(level[beside])
        above = [node_hash(level[at], level[at + 1]) for at in range(0, len(level) - 1, 2)]
        level = [*above, *level[len(above) * 2 :]]  # a last one without a neighbour goes up as it is
        index >>= 1
    return path


def root_by_path(leaf: bytes, index: int, n_leaves: int, path: Sequence[bytes]) -> bytes | None:
    """The root that follows from a leaf's hash and its proof; None where the proof is of another tree (2.1.3.2)."""
    if not 0 <= index < n_leaves:
        return None
    found, at, last = leaf, index, n_leaves - 1
    for beside in path:
        if last == 0:
            return None
        if at & 1 or at == last:
            found = node_hash(beside, found)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            found = node_hash(found, beside)
        at, last = at >> 1, last >> 1
    return found if last == 0 else None
