"""labels: people's scores of answers, and judges held against them: calibration, cards, positions, pairs.

label       one person's score of one answer. Not: annotation.
gold        the outcome of people's labels of one answer.
judge card  all that is known of a judge: validity, agreement with people, bias, costs.
"""
