"""`python -m recjury` is `recjury`."""

from recjury.cli import main

main()
