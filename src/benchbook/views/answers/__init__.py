"""Views of the records whose answers are scored one by one: one report, and the words of each such evaluator."""
