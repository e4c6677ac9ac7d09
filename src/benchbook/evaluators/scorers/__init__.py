"""scorers: answers scored by a Python function of the user's own. Its outcomes are facts: nobody else can make them.

The rules, F1 to F8, stand in docs/reference/scorers.md.

source     a function as it is written: the text that identifies it
scorer     the decorator, and the item that a function is called with
outcome    the outcome of what it returned or raised
scoring    a record's answers that have no outcome yet
metric     a run: its outcomes, read from the journal
rows       columns, aggregates, manifest
evaluator  over a function that is here; of a record, where it may not be
"""
