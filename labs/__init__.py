"""The practice tasks of the chapter, done by the reader and checked by the repository."""
