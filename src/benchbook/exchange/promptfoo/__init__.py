"""promptfoo's eval outputs: JSON, JSONL, YAML and CSV read, JSON written."""
