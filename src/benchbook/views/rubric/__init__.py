"""Views of a rubric's records: the report of a run, its samples in full, its panel of judges."""
