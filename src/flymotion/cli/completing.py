"""``flymotion completion``: what makes a shell complete commands, options and names."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from flymotion.cli.ending import say

__all__ = ["completion"]

PLACES = {
    "bash": "flymotion completion bash > ~/.local/share/bash-completion/completions/flymotion",
    "zsh": "flymotion completion zsh > ~/.zfunc/_flymotion   # with ~/.zfunc in fpath, before compinit",
    "fish": "flymotion completion fish > ~/.config/fish/completions/flymotion.fish",
}
"""By shell, the command that puts the script where the shell looks for it."""

NOW = {
    "bash": 'eval "$(flymotion completion bash)"',
    "zsh": 'eval "$(flymotion completion zsh)"',
    "fish": "flymotion completion fish | source",
}
"""By shell, what loads it into the shell that runs."""


@click.command(short_help="Print a script that completes commands in bash, zsh or fish.")
@click.argument("shell", required=False, metavar="[SHELL]", type=click.Choice(list(PLACES)))
@click.pass_context
def completion(context: click.Context, shell: str | None) -> None:
    """Print the script by which SHELL, which is bash, zsh or fish, completes commands, options and names.

    By default it is the shell that $SHELL says. The script's first lines say where it goes; so does
    docs/command-line.md.
    """
    shell = shell or Path(os.environ.get("SHELL", "")).name
    if shell not in PLACES:
        raise click.UsageError(f"$SHELL is {shell or 'not set'}; expected one of {', '.join(PLACES)}, as an argument")
    maker = get_completion_class(shell)
    assert maker is not None
    made = maker(context.find_root().command, {}, "flymotion", "_FLYMOTION_COMPLETE")
    script = made.source_template % made.source_vars()  # .source() would look for the shell
    first, *rest = script.splitlines()
    about = [
        f"# Completes flymotion in {shell}. For this shell: {NOW[shell]}",
        f"# For all: {PLACES[shell]}",
    ]
    lines = [first, *about, *rest] if first.startswith("#compdef") else [*about, first, *rest]  # zsh looks there
    say("\n".join(lines))
