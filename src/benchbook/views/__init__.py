"""views: what people and other tools read of a run. No numbers of their own.

A view builds one document (`evaluators/document.py`): rubric, correctness, protocol, comparison, judge_card.
html, markdown, terminal and json write any document; numbers and words are where its numbers and words come from.
"""
