"""The laboratory on top: the commands, the practice tasks, and the catalogue of breaks."""
