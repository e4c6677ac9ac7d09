"""correctness: answers held against those that were expected, without a judge (SPEC A)."""
