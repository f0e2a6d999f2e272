"""Other agents, each driven through the same conversation, in an environment of its own."""
