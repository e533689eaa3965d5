"""How the command ends: by itself, by Ctrl-C or SIGTERM, or because what it prints goes nowhere."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from types import TracebackType
from typing import Any, Self

import click

__all__ = ["Interrupts", "Program", "complain", "in_one_line", "note", "printing", "say", "watched"]

STATUSES = {
    0: "all was done",
    1: "learning has failed, or a claim is not as it is on record",
    2: "something is wrong with what was asked for, or cannot be written",
    130: "Ctrl-C (143: SIGTERM); what was finished is kept",
    141: "nobody reads what is printed any more",
}
"""What exit statuses mean."""

NOBODY_READS = 141
"""Exit status of other programs that SIGPIPE ended, 128 + 13."""


def say(text: object = "") -> None:
    """Print a line; the command ends where that cannot be done."""
    with printing():
        click.echo(text)


@contextmanager
def printing() -> Iterator[None]:
    """End the command where standard output cannot be written to."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None:  # it is of a file
            raise
        raise _unprintable(error) from error


def complain(text: str) -> None:
    """Print a line on stderr, if that can be done."""
    with suppress(OSError):
        click.echo(text, err=True)


def watched() -> bool:
    """Say whether somebody watches: whether stderr is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def note(*lines: object) -> None:
    """Print lines on stderr where somebody watches, as what was written where: never among what is printed."""
    if lines and watched():
        complain("\n".join(map(str, lines)))


def in_one_line(error: BaseException) -> str:
    """Return what an error says, with its notes, in one line."""
    return " ".join("; ".join([str(error), *getattr(error, "__notes__", [])]).split())


class Program(click.Group):
    """A group of commands that ends as other programs do.

    Attributes
    ----------
    sections : dict of str to sequence of str
        Titles of the list of commands, and the names of those below each, in their order.
    """

    sections: Mapping[str, Sequence[str]] = {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, as they are listed; those of no section last."""
        named = [name for names in self.sections.values() for name in names]
        return [*named, *(name for name in self.commands if name not in named)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, a section a title."""
        rest = [name for name in self.list_commands(ctx) if name not in chain(*self.sections.values())]
        widest = max(map(len, self.commands), default=0)
        for title, names in (*self.sections.items(), ("Other", rest)):
            if names:
                with formatter.section(title):
                    formatter.write_dl([(n.ljust(widest), self.commands[n].get_short_help_str(80)) for n in names])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the exit statuses."""
        with formatter.section("Exit status"):
            formatter.write_dl([(str(number), words) for number, words in STATUSES.items()])

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run the command that the arguments name, and exit."""
        if sys.stdout is None:  # a file opened later would be given its number, and what is printed
            complain("Error: standard output is closed")
            sys.exit(2)
        with _any_name(sys.stdout), _any_name(sys.stderr), printing():  # help: what commands do has words of its own
            return super().main(*arguments, **options)

    def invoke(self, context: click.Context) -> Any:
        """Run a command, which finds the :class:`Interrupts` in its context."""
        with Interrupts() as context.obj:
            try:
                return super().invoke(context)
            except KeyboardInterrupt as error:
                told = in_one_line(error).removeprefix("; ") or "nothing was finished"
                complain(f"Interrupted: {told}")
                context.exit(context.obj.status)


class Interrupts:
    """Ctrl-C and SIGTERM: a KeyboardInterrupt at once, or only ``due`` while they are deferred; the second one at once.

    Where the program was started with one of them ignored, as in the background, it stays so. Where Python cannot
    raise, as in a callback of the compiler, nothing is printed, and whoever calls :meth:`look` next raises.
    """

    def __init__(self) -> None:
        self.due = False
        self._deferred = False
        self._raised = True
        self._number = int(signal.SIGINT)

    @property
    def status(self) -> int:
        """Exit status of what was ended so."""
        return 128 + self._number

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Let no step be left half done: whoever does it looks at ``due`` afterwards."""
        self._deferred = True
        try:
            yield
        finally:
            self._deferred = False

    def look(self) -> None:
        """Raise what could not be raised when it came."""
        if self.due and not self._raised and not self._deferred:
            self._raised = True
            raise KeyboardInterrupt

    def __enter__(self) -> Self:
        """Begin."""
        self._hook, sys.unraisablehook = sys.unraisablehook, self._unraisable
        ours = (signal.SIGINT, signal.SIGTERM) if threading.current_thread() is threading.main_thread() else ()
        heard = [number for number in ours if signal.getsignal(number) not in (signal.SIG_IGN, None)]
        self._before = {number: signal.signal(number, self._come) for number in heard}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End."""
        sys.unraisablehook = self._hook
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _come(self, number: int, frame: Any) -> None:
        second, self.due, self._number = self.due, True, number
        if second or not self._deferred:
            raise KeyboardInterrupt

    def _unraisable(self, what: Any) -> None:
        if issubclass(what.exc_type, KeyboardInterrupt):
            self._raised = False
        else:
            self._hook(what)


def _unprintable(error: OSError) -> SystemExit:
    with suppress(OSError, ValueError):  # else Python complains at the end that the rest cannot be printed either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return SystemExit(NOBODY_READS)
    complain(f"Error: standard output: cannot be written ({error.strerror or error})")
    return SystemExit(2)


@contextmanager
def _any_name(stream: Any) -> Iterator[None]:
    """Let a stream print names of files that its encoding does not have."""
    before = getattr(stream, "errors", None)
    if not hasattr(stream, "reconfigure"):
        yield
        return
    stream.reconfigure(errors="backslashreplace")
    try:
        yield
    finally:
        with suppress(OSError, ValueError):  # what is left to print, or a stream that was closed
            stream.reconfigure(errors=before)
