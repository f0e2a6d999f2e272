"""Tests of the site as it is built, in a real Chromium: make site TEST=1 runs them."""
