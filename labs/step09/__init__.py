"""The tasks of this step: checks.py looks at what the reader made of them."""
