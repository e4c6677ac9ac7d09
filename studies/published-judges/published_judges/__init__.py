"""published_judges: what judges declared in public, held against what people said.

judgement   one reply of a judge: to one answer, or to one against another. Scores are shares, 0 to 1.
pair        two models under one judge, over the items that both answered. Differences are b - a, as in Benchbook.
win         a pair that a judge tells apart with significance.
known       a pair that people tell apart with significance: only of these is it known which way a win should point.
corrected   the judge's difference over all items, corrected by people's labels of a few.
"""
