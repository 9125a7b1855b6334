"""What the options of `satchel reembed` ask for."""

import pytest

from satchel.cli.actions.reembedding import Wish, wish_of
from satchel.cli.exits import CommandError, Exit


@pytest.mark.parametrize(
    ("only_status", "cancel", "expected"),
    [(False, False, Wish.WORK), (True, False, Wish.STATUS), (False, True, Wish.CANCEL)],
)
def test_an_option_asks_for_one_thing(*, only_status: bool, cancel: bool, expected: Wish) -> None:
    assert wish_of(only_status=only_status, cancel=cancel) is expected


def test_two_things_at_once_are_refused() -> None:
    with pytest.raises(CommandError, match="not both") as failure:
        wish_of(only_status=True, cancel=True)

    assert failure.value.exit_code is Exit.USAGE
