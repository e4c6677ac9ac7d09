"""Engines: who asks all shards of a run, so many at once. Processes of this machine, or a Ray cluster."""
