"""Links between memories that a client of MIRA finds by the words of causes and changes."""

import pytest

from e2e.door import Door
from requirements import requirement

TRIGGERS = {
    ("en", "triggered"): "Following the outage of the ledger of Acme we added a second node.",
    ("en", "because"): "The ledger of Acme was moved because the disk was full.",
    ("en", "contradicts"): "This contradicts what was said of the ledger of Acme.",
    ("en", "updates"): "This updates the plan for the ledger of Acme.",
    ("en", "resolves"): "The patch resolves the failure of the ledger of Acme.",
    ("fr", "triggered"): "Suite à la panne du ledger Acme nous avons ajouté un serveur.",
    ("fr", "because"): "Le ledger Acme a été déplacé parce que le disque était plein.",
    ("fr", "contradicts"): "Ceci contredit ce qui a été dit du ledger Acme.",
    ("fr", "updates"): "Ceci met à jour le plan du ledger Acme.",
    ("fr", "resolves"): "Le correctif résout la panne du ledger Acme.",
}
EARLIER = "The ledger of Acme failed during the night."


def links(door: Door, memory_id: str) -> list[tuple[str, str, str]]:
    found = door.ask("GET", f"/memories/{memory_id}/links")["links"]
    return [(link["cause_id"], link["relation"], link["effect_id"]) for link in found]


@requirement("graph:found", "graph:only-related", "doors:miras-clients")
@pytest.mark.parametrize(("language", "relation"), TRIGGERS)
def test_a_word_of_cause_links_the_later_memory_to_the_earlier_one_on_its_subject(
    door: Door, language: str, relation: str
) -> None:
    wing = f"causes-{language}-{relation}"
    elsewhere = door.store(f"{wing}-2", EARLIER)
    earlier = door.store(wing, EARLIER)
    unrelated = door.store(wing, "The cat likes warm milk.")
    later = door.store(wing, TRIGGERS[language, relation])

    assert links(door, later) == links(door, earlier) == [(earlier, relation, later)]
    assert links(door, unrelated) == links(door, elsewhere) == []


@requirement("graph:only-related", "doors:miras-clients")
@pytest.mark.parametrize(
    "text",
    [
        "However, the ledger of Acme works today.",
        "The ledger of Acme failed, but not because of the disk.",
        "The security updates of the ledger of Acme come since Monday.",
    ],
)
def test_other_words_link_nothing(door: Door, text: str) -> None:
    wing = "causes-none"
    door.store(wing, EARLIER)
    found = links(door, door.store(wing, text))
    door.ask("DELETE", "/memories", {"mode": "room", "wing": wing})

    assert found == []


@requirement("graph:traced", "doors:miras-clients")
async def test_a_chain_is_followed_from_either_form_of_an_id_in_both_directions(door: Door) -> None:
    first = door.store("chain", EARLIER)
    second = door.store("chain", "The ledger of Acme was moved because the disk was full.")
    third = door.store("chain", "The patch resolves the move of the ledger of Acme.")
    asked = f"/causal/T0:{second}"
    traced = door.ask("GET", asked, max_depth=0, include_consequences="true")
    numbered = door.ask("GET", asked, include_consequences="1")
    unknown = door.send("GET", "/causal/0190a6b2-8f1e-7c3d-9a4b-5e6f70818293")
    tool = await door.tool("mira_causal_chain", id=f"T0:{second}", include_consequences=True)

    assert [node["id"] for node in traced["chain"]] == [first]
    assert numbered == traced
    assert third in [node["id"] for node in traced["consequences"]]
    assert {"id", "type", "summary", "timestamp", "wing", "room"} <= set(traced["chain"][0])
    assert tool.structured_content["chain"] == traced["chain"]
    assert unknown.status_code == 404
