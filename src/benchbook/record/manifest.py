"""What the manifest of every record says, whatever its evaluator."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["Manifest"]


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """manifest.json: what was recorded when, by which rules and code, and the hash that names the record.

    Each evaluator adds who was asked what (SPEC R7.1).
    """

    run_id: str
    timestamp_utc: str
    ended_utc: str | None
    state: str  # complete, interrupted, stopped, running, open
    state_detail: str | None
    spec: str
    spec_sha256: str
    dataset_id: str
    dataset_version_or_hash: str
    repeats: int
    code_version: dict[str, Any]
    environment: dict[str, Any]
    config: dict[str, Any]
    plan_sha256: str
    inputs: dict[str, str]  # what it is -> its SHA-256, under inputs/
    journal_segments: int
    journal_facts: int
    journal_sha256: str  # the last fact's hash: it names the whole record
    derived: dict[str, str]  # file -> its SHA-256
    derived_by: dict[str, str]  # the versions that wrote them
    manifest_sha256: str  # of this manifest with this field empty: no byte of it changes unseen
    # Of the repository that holds the user's config; left out of records before derivation 3.
    project_version: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
