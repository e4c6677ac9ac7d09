"""What Benchbook promises of its numbers, simulated: a file a method, each with `lines(draws)`.

line       one case of one method: the goal, what is in use today, and what else could be.
draws      how many samples are drawn for a case; what costs more takes fewer, and says so. None: listed, so exact.
"""
