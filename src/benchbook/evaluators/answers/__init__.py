"""answers: the parts shared by evaluators that score answers one by one; no evaluator itself.

metric       the little in which they differ
predictions  answers that were made elsewhere, imported
asking       a model that is asked
rows, tables, scorecard  the files derived from each
evaluator    the contract, over a metric
"""
