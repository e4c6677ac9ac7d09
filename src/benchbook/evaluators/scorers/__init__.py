"""scorers: answers scored by a Python function of the user's own. What it says is a fact: nobody else can say it.

The rules, F1 to F8, stand in docs/reference/scorers.md.

source     what a function is, as it is written: the text that names it
scorer     the decorator, and what a function is called with
outcome    what it returned or raised, as an outcome
scoring    a record's answers that have no outcome yet
metric     a run: its outcomes, read from the journal
rows       columns, aggregates, manifest
evaluator  over a function that is here; of a record, where it may not be
"""
