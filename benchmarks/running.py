"""How a benchmark is run: what the user can fix is one line and exit code 2, as in `recjury`."""

import sys
from collections.abc import Callable

from recjury.errors import UserError


def run(main: Callable[[], None]) -> None:
    """Call `main`; a folder that is missing, say, ends it without a traceback."""
    try:
        main()
    except UserError as error:
        sys.stderr.write(" ".join(str(error).split()) + "\n")
        sys.exit(2)
