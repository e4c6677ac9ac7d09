"""every_eval_ever: the form of Every Eval Ever, an aggregate of results and the rows of its samples, in and out."""
