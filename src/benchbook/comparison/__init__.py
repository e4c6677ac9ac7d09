"""comparison: runs held against each other: pairs of items, differences, histories, leaderboards, baselines.

comparison  two runs, item by item. Differences are b - a.
baseline    the run that others are held against.
"""
