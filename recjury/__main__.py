"""`recjury`, and `python -m recjury`: the first lines of the command, before its long imports."""

import _signal as signal  # type: ignore[import-not-found]  # `signal` itself imports for longer

# The default of Python, which a shell or `nohup` may have changed, is a traceback.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def main() -> None:
    """Run the command."""
    from recjury.cli import main
    from recjury.cli.streams import prepare_streams

    prepare_streams()
    main()


if __name__ == "__main__":
    main()
