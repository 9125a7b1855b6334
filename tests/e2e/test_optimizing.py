"""A chat history is pruned by the command line, with the embedder of a Satchel that runs."""

import json
from pathlib import Path

from e2e.running import Running
from requirements import requirement
from satchel.runtime.tokens import count_tokens

FILLER = "The weather was grey, and we talked about holidays, trains and the price of tickets. " * 4
HISTORY = [
    {"role": "system", "content": "You help a bakery."},
    {"role": "user", "content": "The sourdough rises for eighteen hours in the cold room."},
    *({"role": role, "content": f"{FILLER}{n}"} for n in range(10) for role in ("user", "assistant")),
    {"role": "user", "content": [{"type": "text", "text": "How long does the sourdough rise?"}]},
]


@requirement("optimize:budget", "optimize:relevant")
def test_a_history_is_cut_to_the_budget_and_keeps_what_the_question_needs(
    satchel: Running, tmp_path: Path
) -> None:
    file, made = tmp_path / "chat.json", tmp_path / "small.json"
    file.write_text(json.dumps({"model": "m", "messages": HISTORY}))
    done = satchel.cli(
        "optimize", "-f", str(file), "-b", "400", "--keep-last", "1", "-o", str(made), "--json"
    )
    figures, small = json.loads(done.stdout), json.loads(made.read_text())

    assert done.returncode == 0
    assert (small["model"], small["messages"][:2], small["messages"][-1]) == ("m", HISTORY[:2], HISTORY[-1])
    counted = count_tokens(json.dumps(small["messages"], ensure_ascii=False, separators=(",", ":")))
    assert counted == figures["tokens_after"] <= 400 < figures["tokens_before"]
    assert figures["messages_after"] == len(small["messages"]) < figures["messages_before"] == len(HISTORY)


@requirement("optimize:budget")
def test_what_fits_stays_as_it_is_and_what_cannot_fit_is_refused(satchel: Running, tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(HISTORY))
    fits = satchel.cli("optimize", "-f", str(file), "-b", "100000")
    cannot = satchel.cli("optimize", "-f", str(file), "-b", "10")
    only = satchel.cli("optimize", "-f", str(file), "-b", "300", "--stats-only")

    assert json.loads(fits.stdout) == HISTORY
    assert f"{len(HISTORY)} of {len(HISTORY)} messages kept" in fits.stderr
    assert (cannot.returncode, cannot.stdout) == (1, "")
    assert "Raise --budget or lower --keep-last" in cannot.stderr
    assert (only.returncode, only.stdout) == (0, "")
    assert "budget 300" in only.stderr
