"""rubric: a judge, or several, scores what a model answered; with latency and tokens that is a decision (SPEC R)."""
