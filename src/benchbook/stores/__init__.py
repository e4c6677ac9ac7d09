"""Records in object stores: what a writer has on its own disk is pushed as immutable objects, and pulled elsewhere."""
