"""ask: models are asked within limits, with retries, caches, sittings and resuming. Nothing is scored.

attempt     one asking of one prompt; a judge's second is its parse retry (R3.5). Transport retries happen within one.
endpoint    a model that is asked, the gate in front of it, and its prices.
sitting     one stretch of work on a record, from the opening of its journal to its closing.
unanswered  no answer came, for a reason that is not the model's (R1.3a).
"""
