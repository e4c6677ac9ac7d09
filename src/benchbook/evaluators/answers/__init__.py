"""answers: what evaluators that score answers one by one share; no evaluator itself.

metric       the little in which they differ
predictions  answers that were made elsewhere, imported
asking       a model that is asked
rows, tables, scorecard  what is derived of each
evaluator    the contract, over a metric
"""
