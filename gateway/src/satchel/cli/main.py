"""The `satchel` command: global options, the list of commands, and how errors become exit codes.

Quick to start: what is slow to import (gRPC, models, the database) is imported by the command that needs it.
"""

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from satchel.cli.commands import (
    configuration,
    conversations,
    graph,
    lifecycle,
    maintenance,
    memories,
    processes,
    questions,
    state,
    transfer,
    webhooks,
)
from satchel.cli.failures import report
from satchel.cli.place import DEFAULT_FOLDER, Given
from satchel.runtime.settings import Secret

app = typer.Typer(
    name="satchel",
    help="Long-term memory for language-model agents: the most useful memories that fit in a token budget.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
# Products of small matrices are slower with threads, and twenty times slower beside other work. ONNX Runtime
# has threads of its own, which these do not change.
_MATH_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")


def _print_version(wanted: bool) -> None:  # noqa: FBT001  # the form that typer calls
    if wanted:
        typer.echo(f"satchel {version('satchel')}")
        raise typer.Exit


@app.callback()
def globals_(
    context: typer.Context,
    *,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            "-c",
            help="Configuration file; else SATCHEL_CONFIG, ./config.yaml, or the user's satchel/config.yaml.",
        ),
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(
            "--data-dir",
            "-d",
            "--storage-path",
            envvar="SATCHEL_DATA_DIR",
            help=f"Data folder; {DEFAULT_FOLDER} when nothing names one.",
        ),
    ] = None,
    url: Annotated[
        str,
        typer.Option(
            envvar="SATCHEL_URL",
            help="gRPC address of a running Satchel, instead of a data folder: host:port, or "
            "store=host:port,allocator=host:port,index=host:port.",
        ),
    ] = "",
    project: Annotated[
        str, typer.Option("--project", "-p", envvar="SATCHEL_PROJECT", help="Project; 'default' when empty.")
    ] = "",
    token: Annotated[
        str,
        typer.Option(
            envvar="SATCHEL_TOKEN",
            help="Key for a Satchel that asks for one; the data folder itself needs none.",
        ),
    ] = "",
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Long-term memory for language-model agents: the most useful memories that fit in a token budget."""
    context.obj = Given(data_dir, url, project, Secret(token), config)


for _module in (
    processes,
    memories,
    questions,
    lifecycle,
    graph,
    conversations,
    transfer,
    state,
    maintenance,
    webhooks,
    configuration,
):
    _module.register(app)


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the command and end the process with its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for variable in _MATH_THREADS:
        os.environ.setdefault(variable, "1")  # read once, when the libraries are imported
    try:
        code = typer.main.get_command(app).main(given, prog_name="satchel", standalone_mode=False)
    except BaseException as error:  # noqa: BLE001  # the outermost boundary: every error becomes a sentence
        code = report(error, as_json="--json" in given)
    raise SystemExit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    run()
