"""ask: who is asked, within which limits, and what came of it: retries, caches, sittings, resuming. Nothing is scored.

attempt     one asking of one prompt; a judge's second is its parse retry (R3.5). Transport retries happen within one.
endpoint    a model that is asked, the gate in front of it, and its prices.
sitting     one stretch of work on a record, from the opening of its journal to its closing.
unanswered  nothing came, and not by the model's doing (R1.3a).
"""
