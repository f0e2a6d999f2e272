"""The tests of what serves every step."""
