"""batches: a run whose requests go out in vendors' batch files, and come back within a day, at a part of the price.

request_ids    what names a request in a vendor's batch, and leads back to it
limits         how large a batch may be, by vendor: limits.toml has each number's source
form           requests and results in a vendor's form: openai_form, anthropic_form, gemini_form
http           one call to a vendor, a file up or down
vendor         what a vendor can be asked about batches: openai_api, anthropic_api, gemini_api
calls          what would be asked next, by the facts so far, of any evaluator
facts_held     the facts of a sample, and which requests are out, of any number of samples
budget         what may be spent
request_file   the requests of one batch as they are written
results        the lines of results, by sample
recording      results as facts
sitting        one look at all batches: intents settled, results recorded, and what follows sent
standing       how batches stand, and those that are given up
running        runs begun by batch, and gone on with
"""
