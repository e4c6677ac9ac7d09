"""What records of judge_protocol show: their tables, their page, and the archive that the protocol prescribes."""
