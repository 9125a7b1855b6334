from satchel.allocator.lazy import Lazy


def test_an_item_is_made_once_and_only_when_it_is_looked_at() -> None:
    made: list[int] = []

    def make(index: int) -> str:
        made.append(index)
        return str(index)

    items = Lazy(make, 5)
    assert (len(items), made) == (5, [])
    assert (items[3], items[-2], made) == ("3", "3", [3])
    assert list(items) == ["0", "1", "2", "3", "4"]
    assert made == [3, 0, 1, 2, 4]


def test_a_slice_shares_what_was_made() -> None:
    made: list[int] = []

    def make(index: int) -> int:
        made.append(index)
        return index

    items = Lazy(make, 6)
    part = items[1:4]
    assert (len(part), made) == (3, [])
    assert (part[1], items[2], made) == (2, 2, [2])
    assert list(part[1:]) == [2, 3]
    assert list(items[6:]) == []
