"""views: what people and other tools read of a run. No numbers of their own.

report      one run as a page, a document, a table or a summary.
digest      what a report keeps of the samples: counts, and a bounded number of them in full.
"""
