"""Moved: benchbook.canonical (this shim goes away)."""

from benchbook.canonical import canonical_json, decode_json

__all__ = ["canonical_json", "decode_json"]
