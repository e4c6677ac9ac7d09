"""What a rubric's records show: the report of a run, its samples in full, its panel of judges."""
