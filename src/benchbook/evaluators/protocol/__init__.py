"""protocol: models judge each other's outputs, and their own, in strict JSON with quoted evidence (SPEC P)."""
