"""Times are moments: told in UTC, taken in any zone, and never without one."""

import itertools
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from e2e.door import Door
from requirements import requirement

DAY = datetime(2024, 3, 10, 8, 0, 0, tzinfo=UTC)
HOURS = (0, 1, 2)
ZONES = ("Z", "-08:00", "+05:30")
QUESTION = "What did the bell do?"


def in_zone(moment: datetime, zone: str) -> str:
    """Write a moment with the offset of a zone."""
    hours, minutes = (0, 0) if zone == "Z" else map(int, zone.split(":"))
    shift = timedelta(hours=hours, minutes=minutes if hours >= 0 else -minutes)
    return (moment + shift).replace(tzinfo=None).isoformat() + zone


def shown_by(door: Door, **window: str) -> dict[str, set[str]]:
    """Return what each way of reading shows of a window of time."""
    asked: dict[str, Any] = {"wing": "bells", **window}
    return {
        "timeline": {item["id"] for item in door.ask("GET", "/timeline", **asked)["items"]},
        "recall": set(door.recalled(QUESTION, **asked)),
        "search": set(door.found(QUESTION, **asked)),
    }


@pytest.fixture(scope="module")
def bells(door: Door) -> dict[int, str]:
    """Ids of a memory for each hour."""
    return {
        hour: door.store(
            "bells", f"The bell rang {hour} times.", occurred_at=in_zone(DAY + timedelta(hours=hour), "Z")
        )
        for hour in HOURS
    }


@requirement("timeline:filters", "recall:filters", "search:scope")
@pytest.mark.parametrize("zone", ZONES)
def test_a_window_holds_its_beginning_and_not_its_end_in_every_zone_by_every_way(
    door: Door, bells: dict[int, str], zone: str
) -> None:
    for since, until in itertools.combinations((None, *HOURS, 3), 2):
        window = {
            name: in_zone(DAY + timedelta(hours=hour), zone)
            for name, hour in (("since", since), ("until", until))
            if hour is not None
        }
        wanted = {bells[hour] for hour in HOURS if (since or 0) <= hour < (3 if until is None else until)}

        assert shown_by(door, **window) == dict.fromkeys(("timeline", "recall", "search"), wanted)


@requirement("doors:same-errors", "timeline:filters")
@pytest.mark.parametrize("time", ["2024-03-10T08:00:00", "2024-03-10", "yesterday", "1710057600"])
def test_a_time_without_a_zone_is_refused_by_its_field(door: Door, time: str) -> None:
    answers = [
        door.send("GET", "/timeline", since=time),
        door.send("POST", "/memories/recall", {"query": "x", "since": time}),
        door.send("POST", "/memories", {"content": "x", "wing": "w", "since": time}),
    ]
    stored = door.send("POST", "/memories", {"content": "x", "wing": "w", "occurred_at": time})

    assert [(one.status_code, one.json()["field"]) for one in answers[:2]] == [(422, "since")] * 2
    assert (stored.status_code, stored.json()["field"]) == (422, "occurred_at")


def times_in(value: object) -> Iterator[str]:
    """Yield every text in JSON that looks like a time."""
    return (text for text in json.dumps(value).split('"') if re.match(r"\d{4}-\d\d-\d\dT\d\d:", text))


@requirement("rest:json", "store:whole", "recall:deterministic")
def test_every_answer_tells_times_in_utc_wherever_the_server_stands(door: Door) -> None:
    before = datetime.now(UTC)
    kept = door.store("zones", "The clock is right.", occurred_at="2024-03-10T00:30:00-08:00")
    answers = [
        door.load(kept),
        door.recall("Is the clock right?", wing="zones"),
        door.ask("POST", "/memories/search", {"query": "clock", "wing": "zones"}),
        door.ask("GET", "/timeline", wing="zones"),
        door.ask("GET", f"/memories/{kept}/versions"),
    ]
    times = [time for answer in answers for time in times_in(answer)]

    assert len(times) >= 8
    assert {time[-1] for time in times} == {"Z"}
    assert answers[0]["occurred_at"] == "2024-03-10T08:30:00Z"
    assert before <= datetime.fromisoformat(answers[0]["created_at"]) <= datetime.now(UTC)
    assert "10 March 2024" in answers[1]["context"]
