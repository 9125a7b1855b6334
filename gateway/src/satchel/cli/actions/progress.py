"""A progress bar on stderr, where a person is there to see it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from satchel.cli.place import Show


class Progress(Protocol):
    """Something that is told how far the work is."""

    def set_total(self, total: int) -> None:
        """Tell how much there is to do."""

    def advance(self, count: int = 1) -> None:
        """Tell that some of it is done."""


@contextmanager
def open_progress(title: str, total: int | None, show: Show) -> Iterator[Progress]:
    """Show a bar for a ``with`` block if stderr is a terminal and the answer is for people."""
    if show.as_json or not sys.stderr.isatty():
        yield _Silent()
        return
    from satchel.cli.actions.progress_bar import Bar  # noqa: PLC0415  # rich only where it shows

    with Bar(title, total) as bar:
        yield bar


class _Silent:
    """Shows nothing."""

    def set_total(self, total: int) -> None:
        """Do nothing."""

    def advance(self, count: int = 1) -> None:
        """Do nothing."""
