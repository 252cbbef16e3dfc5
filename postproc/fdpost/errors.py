"""Errors, with the exit codes of fdapp itself: 2 for a wrong request, 3 for data that cannot be used or output that
cannot be written."""

import os
import sys
from contextlib import suppress

HOW = "pip install numpy h5py matplotlib, or Debian's python3-numpy python3-h5py python3-matplotlib"


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
    """Call `command()` and return the exit code. A PostError, an OSError, or a package that is not installed becomes
    one line on standard error."""
    if getattr(sys.stdout, "errors", None) == "strict" and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="surrogateescape")  # file names are printed as their bytes
    try:
        command()
        print(end="", flush=True)  # an error in writing at exit would give another exit code
    except PostError as error:
        return leave(error.exit_code, f"error: {error}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] == "fdpost":
            raise
        return leave(DataError.exit_code, f"error: the Python package {error.name} is not installed: {HOW}")
    except BrokenPipeError:
        return leave(0)
    except OSError as error:
        what = f"{error.filename or 'standard output'}: {error.strerror}" if error.strerror else error
        return leave(DataError.exit_code, f"error: {what}")
    except KeyboardInterrupt:
        return leave(130, "stopped")
    return 0


def leave(code, sentence=""):
    """Print the sentence on standard error and return the code. Output that the streams refuse is dropped: otherwise
    Python would try again at exit, and exit with code 120."""
    with suppress(OSError):
        print(sentence, end="\n" if sentence else "", file=sys.stderr)
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None if it was closed at the start
        try:
            stream.flush()
        except OSError:
            with open(os.devnull, "w") as nowhere, suppress(OSError):
                os.dup2(nowhere.fileno(), stream.fileno())
    return code
