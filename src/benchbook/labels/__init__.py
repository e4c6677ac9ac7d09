"""labels: what people say of answers, and what that says of judges: calibration, cards, positions.

label       what one person gave one answer. Not: annotation.
gold        what people's labels of one answer come to.
judge card  what is known of a judge: validity, agreement with people, bias, costs.
"""
