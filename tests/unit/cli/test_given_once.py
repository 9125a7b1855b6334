"""What may be given as an argument or with an option of MIRA is given once."""

import pytest

from satchel.cli.exits import Exit
from satchel.cli.main import run


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["store"], "--content"),
        (["store", "a", "--content", "b"], "--content"),
        (["import"], "--file"),
        (["import", "a.json", "-f", "b.json"], "--file"),
    ],
)
def test_neither_and_both_are_wrong_usage_that_names_the_option(
    capsys: pytest.CaptureFixture[str], arguments: list[str], option: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(arguments)

    assert ended.value.code == Exit.USAGE
    assert option in capsys.readouterr().err
