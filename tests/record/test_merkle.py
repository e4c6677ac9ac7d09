"""Merkle trees by RFC 9162: roots that other programs give, and proofs of each leaf and of no other."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.record.merkle import leaf_hash, path_of, root_by_path, root_of

# The leaves and roots that the reference code of Certificate Transparency is tested with (RFC 6962, the same tree).
LEAVES = [bytes.fromhex(one) for one in (
    "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
)]  # fmt: skip
ROOTS = (
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)


@pytest.mark.parametrize("n", range(len(ROOTS)))
def test_roots_are_those_of_certificate_transparency(n: int) -> None:
    assert root_of(map(leaf_hash, LEAVES[:n])).hex() == ROOTS[n]


def by_definition(leaves: list[bytes]) -> bytes:
    """RFC 9162, 2.1.1, as it is written."""
    if len(leaves) < 2:
        return leaves[0] if leaves else hashlib.sha256(b"").digest()
    k = 1 << (len(leaves) - 1).bit_length() - 1
    return hashlib.sha256(b"\1" + by_definition(leaves[:k]) + by_definition(leaves[k:])).digest()


@given(st.lists(st.binary(max_size=3).map(leaf_hash), max_size=70))
def test_roots_are_those_of_the_definition(leaves: list[bytes]) -> None:
    assert root_of(leaves) == by_definition(leaves)


@given(st.integers(1, 70), st.data())
def test_a_proof_holds_for_its_leaf_and_place_alone(n: int, data: st.DataObject) -> None:
    leaves = [leaf_hash(str(number).encode()) for number in range(n)]
    at = data.draw(st.integers(0, n - 1))
    path, root = path_of(leaves, at), root_of(leaves)
    assert len(path) <= n.bit_length()
    held = {place for place in range(n) if root_by_path(leaves[at], place, n, path) == root}
    assert held == {at}
    assert all(root_by_path(leaves[other], at, n, path) != root for other in range(n) if other != at)
    if path:
        assert root_by_path(leaves[at], at, n, path[:-1]) != root
        assert root_by_path(leaves[at], at, n, [path[0][:-1] + bytes([path[0][-1] ^ 1]), *path[1:]]) != root
    assert root_by_path(leaves[at], at, n, [*path, root]) is None
    assert root_by_path(leaves[at], n, n, path) is None
