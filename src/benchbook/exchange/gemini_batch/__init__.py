"""gemini_batch: the results of batches of Gemini, of the developer API and of Vertex AI."""
