"""imported: answers that another tool asked for and scored. What its log says is a fact: nobody else can make it.

log        the log, as a record's first fact describes it: the tool, its scorers with their scales, what it claims
rows       columns, aggregates, manifest
metric     a run: its scores, read from the journal
evaluator  over the scorers that a record's first fact names
"""
