"""pairs: judges' verdicts on the answers of two models to one item, and the models ranked by them.

verdict     what a judge said of two answers to an item. Not: battle, match, annotation.
showing     the two answers in one order. A verdict has one, or both; which was first may not be known.
survives    a win in both orders. Where the orders differ, the place decided, and it is a tie.
both bad    a tie that says that neither answer is good; it counts as a tie, and is told apart.
order       of two runs, the one whose answers are shown first; what is asked of each order is a record.
"""
