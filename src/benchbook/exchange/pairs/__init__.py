"""pairs: judgements of pairs of answers that others published, read as verdicts (labels.pairs).

reading        which form a file has, by its content, and the verdicts of several files
alpaca_eval    AlpacaEval's annotations.json
arena_hard     Arena-Hard's model_judgment/JUDGE/MODEL.jsonl
"""
