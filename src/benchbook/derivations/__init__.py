"""derivations."""
