"""Causes, effects and consolidation through the REST door of a whole Satchel."""

from typing import Any

import httpx2

from e2e.running import Running
from requirements import requirement

NOTES = (
    "Stand-up with Marie: the login page is slow, and the tests of the billing service are red.",
    "Stand-up with Marie: the login page is slow, and the tests of the billing service are green.",
    "Stand-up with Marie: the login page is still slow, and the tests of the billing service are green.",
)
SOUP = "Bought leeks for a soup, and a new pan."


class Rest:
    """The store's routes under one wing, which no other test uses."""

    def __init__(self, satchel: Running, wing: str) -> None:
        self.url = f"{satchel.http}/api/v1"
        self.wing = wing

    def call(self, method: str, path: str, **body: Any) -> Any:  # noqa: ANN401  # JSON
        answer = httpx2.request(method, f"{self.url}{path}", json=body or None, timeout=30)
        assert answer.status_code in {200, 201}, answer.text
        return answer.json()

    def store(self, content: str, **fields: Any) -> str:  # noqa: ANN401  # JSON
        return str(self.call("POST", "/memories", content=content, wing=self.wing, **fields)["id"])

    def status_of(self, method: str, path: str, **body: Any) -> int:  # noqa: ANN401  # JSON
        return httpx2.request(method, f"{self.url}{path}", json=body or None, timeout=30).status_code


@requirement("graph:found", "graph:traced")
def test_a_chain_over_rest_leads_to_the_cause_in_either_language(satchel: Running) -> None:
    rest = Rest(satchel, "causes")
    outage = rest.store("The Redis cluster lost its data on Monday.")
    fix = rest.store("Suite à la panne de Redis, nous avons ajouté des serveurs.")
    follow = rest.store("Lunch was late.")
    rest.call("POST", "/causal/links", cause_id=fix, effect_id=follow, relation="because")
    found = rest.call(
        "GET", f"/causal/{fix}?include_consequences=true&max_depth=3&relations=triggered&relations=because"
    )
    links = rest.call("GET", f"/memories/{fix}/links")["links"]
    removed = rest.call("DELETE", "/causal/links", cause_id=fix, effect_id=follow)

    assert [(one["id"], one["relation"], one["depth"]) for one in found["chain"]] == [
        (outage, "triggered", 1)
    ]
    assert set(found["chain"][0]) >= {"type", "summary", "timestamp", "wing", "room", "via_id", "state"}
    assert [(one["id"], one["relation"]) for one in found["consequences"]] == [(follow, "because")]
    assert {(one["cause_id"], one.get("phrase", "")) for one in links} == {(outage, "suite a"), (fix, "")}
    assert removed["removed_count"] == 1
    nobody = "01890a5d-ac96-774b-bcce-b302099a8000"
    assert rest.status_of("GET", f"/causal/{nobody}") == 404
    assert rest.status_of("GET", f"/causal/{fix}?max_depth=21") in {400, 422}


@requirement("merge:similar", "merge:undone")
def test_consolidation_over_rest_merges_what_is_alike_and_is_undone(satchel: Running) -> None:
    rest = Rest(satchel, "notes")
    alike = [rest.store(text, type="session_note") for text in NOTES]
    soup = rest.store(SOUP, type="session_note")
    tried = rest.call("POST", "/memories/consolidate", wing="notes", dry_run=True)
    done = rest.call("POST", "/memories/consolidate", wing="notes")
    made = rest.call("GET", f"/memories/{done['clusters'][0]['id']}")
    again = rest.call("POST", "/memories/consolidate", wing="notes")
    recalled = rest.call("POST", "/memories/recall", query="How is the login page?", wing="notes")
    rest.call("POST", "/unarchive", batch_id=done["batch_id"])
    listed = rest.call("GET", "/memories?wing=notes")["memories"]

    assert tried["clusters"][0]["source_ids"] == done["clusters"][0]["source_ids"] == alike
    assert (done["consolidated_count"], done["removed_count"]) == (1, 3)
    assert (again["consolidated_count"], again["removed_count"]) == (0, 0)
    assert (made["type"], made["room"], made["content"]) == ("fact", "consolidated", "\n".join(NOTES))
    recalled_ids = {one["candidate_id"] for one in recalled["memories"]}
    assert made["id"] in recalled_ids
    assert recalled_ids.isdisjoint(alike)
    assert {one["id"] for one in listed} == {*alike, soup}
    assert rest.status_of("POST", "/memories/consolidate", room="r") == 422
