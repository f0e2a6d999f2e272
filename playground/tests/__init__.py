"""Tests of the site that need no browser."""
