"""One step of Mini Agent Harness; README.md says what it adds to the step before."""
