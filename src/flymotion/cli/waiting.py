"""What is shown while one waits: a bar on a terminal's stderr, and that loops are compiled, which happens once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import click

from flymotion.cli.ending import Interrupts, watched

__all__ = ["COMPILING", "compiling", "progress_bar"]

COMPILING = "compiling, once"
"""What is said while loops are compiled: at their first use after an installation, half a minute or more."""


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[..., None]]:
    """Show a progress bar on stderr; silent where that is not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    context = click.get_current_context(silent=True)
    shown = watched()
    columns = TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), disable=not shown, transient=True) as bar:
        task = bar.add_task(title, total=None)

        def tell() -> None:
            bar.update(task, description=COMPILING, refresh=True)

        def advance(done: int, total: int | None, what: str | None = None) -> None:
            bar.update(task, completed=done, total=total, description=what or title)
            if context is not None and isinstance(context.obj, Interrupts):
                context.obj.look()

        with compiling(tell) if shown else nullcontext():
            yield advance


@contextmanager
def compiling(tell: Callable[[], None]) -> Iterator[None]:
    """Call ``tell`` whenever a loop begins to be compiled, in this process."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, what: Any) -> None:
            tell()

        def on_end(self, what: Any) -> None:
            pass  # the next one begins at once, or there is progress to be shown

    with event.install_listener("numba:compile", Listener()):  # of what is in the cache there is no such event
        yield
