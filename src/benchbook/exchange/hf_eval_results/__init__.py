"""hf_eval_results: Hugging Face's evaluation results of a model, as its repository holds them; written only."""
