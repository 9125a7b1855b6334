import uuid

import pytest

from satchel.store.ids import Stamps, canonical_id, uuid7

ID = "01890a5d-ac96-774b-bcce-b302099a8057"


@pytest.mark.parametrize("prefix", ["", "T0:", "t0:", "F0:", "V0:", "FP:", "ID:", "id:", "ID: T0:", "id:fp:"])
def test_an_id_is_read_with_any_prefix_in_either_case(prefix: str) -> None:
    assert canonical_id(prefix + ID.upper()) == ID
    assert canonical_id(prefix + ID) == ID


@pytest.mark.parametrize(
    "text", ["", "T0:", "x", ID[:-1], ID + "0", "T9:" + ID, "T0:T0:" + ID, "T0:ID:" + ID]
)
def test_what_is_no_id_is_told(text: str) -> None:
    assert canonical_id(text) is None


def test_an_id_is_a_uuid_of_version_7_with_its_millisecond() -> None:
    parsed = uuid.UUID(uuid7(1_700_000_000_123_456, 42))

    assert parsed.version == 7
    assert parsed.variant == uuid.RFC_4122
    assert parsed.int >> 80 == 1_700_000_000_123


def test_stamps_grow_strictly_when_the_clock_stands_still_or_steps_back() -> None:
    times = iter([5_000, 5_000, 4_000, 9_000])
    stamps = Stamps(lambda: next(times))

    made = [stamps.next() for _ in range(4)]

    assert [stamp.at for stamp in made] == [5_000, 5_001, 5_002, 9_000]
    assert [stamp.id for stamp in made] == sorted(stamp.id for stamp in made)


def test_ids_differ_in_their_random_part_however_many_are_drawn() -> None:
    stamps = Stamps(lambda: 0)

    tails = {stamps.next().id[-17:] for _ in range(2000)}

    assert len(tails) == 2000
