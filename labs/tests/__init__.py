"""The tests of the practice tasks."""
