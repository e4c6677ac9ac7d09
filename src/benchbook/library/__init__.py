"""library: what `import benchbook as bb` gives. Objects over records; no logic of its own."""
