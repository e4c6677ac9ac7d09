"""correctness: answers held against expected ones, without a judge (SPEC A)."""
