"""judge_audit: judges tried on answers that are changed by rule, and what the changes do to their scores.

audit       a folder of records: the same answers, judged as they are, again, and as each rule changes them
variant     an answer (or its item) changed by rule. Not: perturbation.
control     a variant that a sound judge scores lower: a known-bad answer, or another item's reference
effect      what a variant does to the judge's scores, on average
audit card  the effects, the uses that they leave, and the judge, rubric and set for which that holds
"""
