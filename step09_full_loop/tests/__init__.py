"""The tests of this step."""
