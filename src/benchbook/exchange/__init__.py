"""exchange: other tools' logs, in and out, one folder a tool; and the audit of what they claim.

log            a log as all tools' are read here: header, claims, samples one at a time
tools          the tools that are known, and which one wrote a file
json_text, json_stream, json_lines   JSON as other tools write it: a value, an array, a log that grows by lines
conversations, totals, on_disk       what several forms need: messages, means that are stated, a table that lies on disk
importing      a log as a record, by what first_look and set_items say of its items, and its facts (imported_facts)
of_record      a record as a log: its rows, its numbers (record_claims), its facts if it was imported (of_import)
exporting      a record in the form of another tool, or a table of it
answers        a record's answers, for another evaluator
pairs          published judgements of pairs of answers, as verdicts on pairs of models
audit          the numbers that a log claims, held against its samples
"""
