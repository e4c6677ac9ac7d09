"""OpenAI Evals' record files (openai/evals): events of samples, a line each, read."""
