"""exchange: other tools' logs, in and out, one folder a tool; and the audit of what they claim.

log        a log as all tools' are read here: header, claims, samples one at a time
tools      the tools that are known, and which one wrote a file
on_disk    a table that is too long for memory
totals     a scorer's values added up, for forms that state their mean
json_text  JSON as other tools write it, with an error that says where it stops making sense
"""
