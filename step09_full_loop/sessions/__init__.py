"""Sessions: what was said goes into a file, entry by entry, and comes back from there."""
