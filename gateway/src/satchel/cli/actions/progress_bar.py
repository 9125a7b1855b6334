"""The progress bar itself."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class Bar:
    """A bar with counts and the time that is left; gone when the work is done."""

    def __init__(self, title: str, total: int | None) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._progress.add_task(title, total=total)

    def set_total(self, total: int) -> None:
        """Tell how much there is to do."""
        self._progress.update(self._task, total=total)

    def advance(self, count: int = 1) -> None:
        """Tell that some of it is done."""
        self._progress.advance(self._task, count)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()
