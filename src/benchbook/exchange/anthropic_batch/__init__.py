"""anthropic_batch: the results of Anthropic's message batches."""
