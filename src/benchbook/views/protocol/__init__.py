"""Views of the records of judge_protocol: their tables, their page, and the archive that the protocol prescribes."""
