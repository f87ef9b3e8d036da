"""`python -m recjury` and the command `recjury`."""

from recjury.cli import main

if __name__ == "__main__":
    main()
