"""specs: the frozen evaluators as data, and the loader that checks their hashes.

spec    an evaluator's texts, thresholds and schemas, named `name@vN`. Frozen: a change is a new version beside it.
"""

from benchbook.specs.folders import FROZEN, FrozenSpec, Template, as_text, load_spec, sha256_of_files

__all__ = ["FROZEN", "FrozenSpec", "Template", "as_text", "load_spec", "sha256_of_files"]
