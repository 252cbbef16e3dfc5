"""What can go wrong, with the exit codes of fdapp itself: 2 for a wrong request, 3 for data that cannot be used."""

import sys


class PostError(Exception):
    """A message for people and an exit code for scripts."""

    exit_code = 1


class UsageError(PostError):
    """The request makes no sense for this run: unknown field, step or option."""

    exit_code = 2


class DataError(PostError):
    """The data cannot be used: no states, a damaged file, missing columns."""

    exit_code = 3


def run_command(command):
    """Call `command()` and return the exit code; a PostError becomes one line on standard error."""
    try:
        command()
    except PostError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    return 0
