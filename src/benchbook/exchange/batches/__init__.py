"""batches: vendors' batch files of any vendor: requests joined with their results, which come in any order."""
