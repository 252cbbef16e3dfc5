"""Bad configurations and command lines: what one is, and how the tables of them write it."""

from dataclasses import dataclass

GOOD = """\
[grid]
nx = 12
ny = 13
nz = 14
[initial]
case = blob
[velocity]
field = abc
[time]
courant = 1.2
steps = 1
"""


@dataclass(frozen=True)
class Bad:
    """Arguments of the program, what is said, the configuration in run.ini, the exit code, on how many ranks, how many
    messages. Nothing is left behind."""

    name: str
    arguments: tuple
    says: tuple
    text: bytes = GOOD.encode()
    code: int = 2
    ranks: tuple = (1,)
    messages: int = 1


def command_line(name, *arguments, **more):
    return Bad(name, arguments, **more)


def override(name, text, *says, ranks=(1,)):
    return Bad(name, ("run.ini", text), says, ranks=ranks)


def value(key, text, *says, **more):
    """An override that is refused with the key and the value in the message."""
    return override(f"{key}={text}", f"{key}={text}", f"command line: {key} = {text}: ", *says, **more)


def line(name, text, *says, ranks=(1,), place=12):
    """Lines at the end of a good file, in its section [time], the first of which is line 12."""
    return Bad(name, ("run.ini",), (f"run.ini:{place}: ", *says), (GOOD + text).encode(), ranks=ranks)


def file(name, text, *says, ranks=(1,)):
    return Bad(name, ("run.ini",), says, text if isinstance(text, bytes) else text.encode(), ranks=ranks)
