"""openai_batch: OpenAI's batches, and those of vLLM, Together, Groq and Azure, which have its form."""
