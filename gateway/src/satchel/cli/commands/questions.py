"""Commands that find memories: recall, query, search."""

from typing import Annotated

import typer

from satchel.cli import options
from satchel.cli.exits import Exit
from satchel.cli.place import Show, place_of


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(recall)
    app.command()(query)
    app.command()(search)


def recall(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="The question, or '-' to read it from stdin.")],
    *,
    budget: Annotated[int, typer.Option("--budget", "-b", help="Most tokens of the answer.")] = 4000,
    wing: options.Wing = "",
    room: options.Room = "",
    types: options.Types = None,
    session: options.Session = "",
    tag: options.Tags = None,
    fallback_wing: Annotated[
        list[str] | None, typer.Option(help="Wing to search when --wing has nothing. Repeat for more.")
    ] = None,
    since: options.Since = "",
    until: options.Until = "",
    reference_time: Annotated[str, typer.Option(help="Time from which ages count; now when absent.")] = "",
    strategy: Annotated[str, typer.Option(help="cba, knapsack or top.")] = "",
    min_revision: options.MinRevision = 0,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Say on stderr why each candidate was chosen or left out."),
    ] = False,
    fail_empty: options.FailEmpty = False,
    as_json: options.Json = False,
    trace: options.Trace = False,
) -> None:
    """Print the most useful memories that fit in the budget.

    stdout gets the text for the model, exactly as it is; the receipt goes to stderr.
    """
    from satchel.cli.actions import questions  # noqa: PLC0415  # quick --help

    found = questions.recall(
        place_of(context),
        Show(as_json, trace),
        question,
        {
            "budget": budget,
            "wing": wing,
            "room": room,
            "types": types,
            "session_id": session,
            "tags": tag,
            "fallback_wings": fallback_wing,
            "since": since,
            "until": until,
            "reference_time": reference_time,
            "strategy": strategy,
            "min_revision": min_revision,
            "explain": explain,
        },
    )
    if fail_empty and not found:
        raise typer.Exit(Exit.EMPTY)


def query(
    context: typer.Context,
    *,
    question: Annotated[
        str, typer.Option("--query", "-q", help="The question, or '-' to read it from stdin.")
    ],
    budget: Annotated[int, typer.Option("--budget", "-b", help="Most tokens of the answer.")] = 2000,
    wing: options.Wing = "",
    room: options.Room = "",
    as_json: options.Json = False,
    trace: options.Trace = False,
) -> None:
    """Do as `recall`, with the options of `mira query`."""
    from satchel.cli.actions import questions  # noqa: PLC0415  # quick --help

    asked = {"budget": budget, "wing": wing, "room": room}
    questions.recall(place_of(context), Show(as_json, trace), question, asked)


def search(
    context: typer.Context,
    words: Annotated[str, typer.Argument(help="Words or a question, or '-' to read them from stdin.")],
    *,
    top_k: Annotated[int, typer.Option("--top-k", "-n", help="Most results.")] = 10,
    threshold: Annotated[float, typer.Option(help="Least cosine similarity, in [0, 1].")] = 0.0,
    wing: options.Wing = "",
    room: options.Room = "",
    types: options.Types = None,
    tag: options.Tags = None,
    since: options.Since = "",
    until: options.Until = "",
    max_length: Annotated[int, typer.Option(help="Most characters of each text; 0 for all.")] = 0,
    min_revision: options.MinRevision = 0,
    fail_empty: options.FailEmpty = False,
    as_json: options.Json = False,
    trace: options.Trace = False,
) -> None:
    """List memories by words and meaning, best first, without a budget."""
    from satchel.cli.actions import questions  # noqa: PLC0415  # quick --help

    found = questions.search(
        place_of(context),
        Show(as_json, trace),
        words,
        {
            "top_k": top_k,
            "threshold": threshold,
            "wing": wing,
            "room": room,
            "types": types,
            "tags": tag,
            "since": since,
            "until": until,
            "max_content_length": max_length,
            "min_revision": min_revision,
        },
    )
    if fail_empty and not found:
        raise typer.Exit(Exit.EMPTY)
