"""The commands of the benchmark; ``python -m benchmarks --help`` names them."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks import ablation, baseline, curve, leave_one_out, locomo, records, results, tables, variants
from benchmarks.ablation import UnknownVariantError
from benchmarks.asking import BUDGETS
from benchmarks.curve import NotDrawableError
from benchmarks.leave_one_out import UnfittableError
from benchmarks.measuring import Plan, measure
from benchmarks.records import BadRecordError, Corpus
from benchmarks.results import Measured
from benchmarks.satchel_system import DEFAULT_STRATEGY
from benchmarks.variants import UnknownStripError
from satchel.client import AddressError, SatchelError


def run(arguments: argparse.Namespace) -> None:
    """Measure Satchel, and the references if they are asked for; write results.json and results.md."""
    plan = Plan(arguments.strategies, arguments.budgets, arguments.references, arguments.all_first)
    measured = measure(read(arguments), plan, arguments.url)
    arguments.out.mkdir(parents=True, exist_ok=True)
    about = {**inputs(arguments), "all_first": arguments.all_first}
    results.save(arguments.out / "results.json", measured, about)
    (arguments.out / "results.md").write_text(tables.report(measured), encoding="utf-8")
    print(tables.coverage(measured))


def ablate(arguments: argparse.Namespace) -> None:
    """Measure what each step of a recall is worth; write ablation.json and ablation.md after each variant."""
    corpus, chosen = read(arguments), ablation.named(arguments.only)
    about = {**inputs(arguments), "all_first": True}
    arguments.out.mkdir(parents=True, exist_ok=True)
    measured: list[Measured] = []
    for one in ablation.ablate(corpus, arguments.budgets, chosen):
        measured.append(one)
        results.save(arguments.out / "ablation.json", measured, about)
        page = ablation.report(measured, len(corpus.namespaces()))
        (arguments.out / "ablation.md").write_text(page, encoding="utf-8")
    print(ablation.table_of(measured))


def fit(arguments: argparse.Namespace) -> None:
    """Fit the weights, on all namespaces and leaving one out; write fit.json and fit.md."""
    found = leave_one_out.measure(read(arguments), arguments.budgets)
    arguments.out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(
        {"run": inputs(arguments), **leave_one_out.as_json(found)}, ensure_ascii=False, indent=1
    )
    (arguments.out / "fit.json").write_text(text + "\n", encoding="utf-8")
    page = leave_one_out.report(found)
    (arguments.out / "fit.md").write_text(page, encoding="utf-8")
    print(page)


def read(arguments: argparse.Namespace) -> Corpus:
    """Read the corpus that the arguments name, as they change it."""
    corpus = variants.strip(records.load(arguments.memories, arguments.questions), arguments.strip)
    return variants.pooled(corpus) if arguments.pooled else corpus


def inputs(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what was read, and how it was changed, to stand in the saved file."""
    return {
        "memories": str(arguments.memories),
        "questions": str(arguments.questions),
        "pooled": arguments.pooled,
        "strip": arguments.strip,
    }


def convert(arguments: argparse.Namespace) -> None:
    """Convert a foreign file into memories.jsonl and questions.jsonl."""
    corpus = locomo.convert(arguments.file)
    arguments.out.mkdir(parents=True, exist_ok=True)
    records.save(corpus, arguments.out / "memories.jsonl", arguments.out / "questions.jsonl")
    print(f"{len(corpus.memories)} memories and {len(corpus.questions)} questions are in {arguments.out}")


def renew(_arguments: argparse.Namespace) -> None:
    """Record what the sets of this repository give now."""
    measured = baseline.measure_sets()
    baseline.save(baseline.record(measured))
    rows = (
        [name, *(f"{one.coverage(budget):.3f}" for budget in one.budgets)] for name, one in measured.items()
    )
    print(tables.table(["set", *map(str, baseline.BUDGETS)], rows))


def draw(arguments: argparse.Namespace) -> None:
    """Draw coverage against budget."""
    arguments.out.write_text(curve.draw(curve.read(arguments.results)), encoding="utf-8")


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    whole = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = whole.add_subparsers(required=True)
    add_run(commands.add_parser("run", help="measure a Satchel on memories and questions"))
    add_ablate(commands.add_parser("ablate", help="measure what each step of a recall is worth"))
    one = commands.add_parser("fit", help="fit the weights of the boosts, leaving one namespace out in turn")
    add_corpus(one)
    one.set_defaults(work=fit)
    one = commands.add_parser("convert", help="make memories and questions of a published data set")
    one.add_argument("format", choices=["locomo"])
    one.add_argument("file", type=Path)
    one.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    one.set_defaults(work=convert)
    one = commands.add_parser("baseline", help="record what the sets of this repository give now")
    one.set_defaults(work=renew)
    one = commands.add_parser("curve", help="draw coverage against budget")
    one.add_argument("results", type=Path, nargs="+", metavar="RESULT.json")
    one.add_argument("--out", type=Path, required=True, metavar="FILE.svg")
    one.set_defaults(work=draw)
    return whole


def add_run(one: argparse.ArgumentParser) -> None:
    """Add the arguments of ``run``."""
    add_corpus(one)
    one.add_argument("--url", default="", help="gRPC address of a running Satchel; else one is started")
    one.add_argument(
        "--strategies", type=names, default=[DEFAULT_STRATEGY], help="as default,knapsack,top,cba"
    )
    one.add_argument(
        "--all-first", action="store_true", help="store all namespaces before the first question"
    )
    one.add_argument("--references", action="store_true", help="measure common ways of finding beside it")
    one.set_defaults(work=run)


def add_ablate(one: argparse.ArgumentParser) -> None:
    """Add the arguments of ``ablate``."""
    add_corpus(one)
    one.add_argument("--only", type=names, default=[], help="some of the variants, by their names")
    one.set_defaults(work=ablate)


def add_corpus(one: argparse.ArgumentParser) -> None:
    """Add what is measured on, and where results go."""
    one.add_argument("--memories", type=Path, required=True, metavar="FILE.jsonl")
    one.add_argument("--questions", type=Path, required=True, metavar="FILE.jsonl")
    one.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where results are written")
    one.add_argument("--budgets", type=numbers, default=BUDGETS, help="in tokens, as 250,500,1000")
    one.add_argument("--pooled", action="store_true", help="put all namespaces into one")
    one.add_argument("--strip", type=names, default=[], help="take away sessions,names,times")


def names(text: str) -> list[str]:
    """Read a list of words with commas between them."""
    return [word.strip() for word in text.split(",") if word.strip()]


def numbers(text: str) -> tuple[int, ...]:
    """Read a list of whole numbers with commas between them, in ascending order."""
    return tuple(sorted({int(word) for word in names(text)}))


def main() -> None:
    """Run the command that the arguments name."""
    arguments = parser().parse_args()
    try:
        arguments.work(arguments)
    except (
        AddressError,
        BadRecordError,
        SatchelError,
        OSError,
        RuntimeError,
        NotDrawableError,
        UnfittableError,
        UnknownStripError,
        UnknownVariantError,
    ) as exc:
        sys.exit(f"error: {exc}")


if __name__ == "__main__":
    main()
