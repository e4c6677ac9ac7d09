"""views: what people and other tools read of a run. No numbers of their own.

A view builds one document (`evaluators/document.py`); html, markdown and terminal write any, and numbers and words are
where its numbers and words come from. What the records of one evaluator show is in rubric, protocol or answers, found
by `Evaluator.view`; nothing beside these folders knows a concrete evaluator.
"""
