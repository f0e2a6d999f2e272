"""Talk to this step on the terminal."""

from .main import main

if __name__ == "__main__":
    main()
