"""What serves every step and is part of none: the command line and what stands behind it."""
