"""audit: each number that a log claims, computed again from the samples that it holds."""
