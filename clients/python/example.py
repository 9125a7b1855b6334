"""Stores two memories, and recalls what a question needs of them."""

from satchel.client import Satchel, SatchelError

with Satchel(wing="billing") as satchel:
    try:
        stored = satchel.remember_many(
            [
                "We chose PostgreSQL over MySQL because the ledger needs ACID.",
                {"content": "Invoices are sent on the first Monday of the month.", "tags": ["invoices"]},
            ]
        )
        answer = satchel.recall(
            "Which database does the ledger use, and why?",
            budget=500,
            min_revision=stored[-1].revision,  # sees what was stored just now
        )
    except SatchelError as error:
        raise SystemExit(f"{error.code.name} {error.reason}: {error}") from error
    print(answer.context)
    print(f"{answer.total_tokens} of {answer.receipt.budget} tokens")
