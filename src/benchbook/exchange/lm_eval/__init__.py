"""lm-evaluation-harness: `results_<time>.json`, and beside it a file of samples for each task."""
