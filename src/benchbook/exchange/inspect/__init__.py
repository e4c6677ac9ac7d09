"""Logs of Inspect AI: `.eval` archives and `.json` files."""
