"""derivations: from facts to tables. What `records` holds goes in, what `scorers` and `decisions` make of it comes out.

row         one sample with all that is known of it, one line of samples.parquet.
ledger      how many samples were planned, attempted, scored, and why the others were not.
"""
