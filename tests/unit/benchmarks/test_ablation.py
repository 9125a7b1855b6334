import pytest

from benchmarks import ablation
from benchmarks.ablation import DEFAULT, PLAIN, VARIANTS, UnknownVariantError
from benchmarks.results import Answer, Measured, Outcome
from satchel.allocator.settings import PREFIX, AllocatorSettings
from satchel.runtime.settings import describe, load


def measured(name: str, found: tuple[int, int]) -> Measured:
    answers = (
        Answer(budget, one, one > 1, 10, 4.0 * budget) for budget, one in zip((1, 900), found, strict=True)
    )
    return Measured(name, (Outcome("q", "", 4, tuple(answers), (0.0,) * 4, 0.5),))


def test_the_table_has_a_row_for_each_variant_and_answers_and_time_near_a_thousand_tokens() -> None:
    assert ablation.table_of(
        [measured("default", (1, 4)), measured("without times", (0, 1))]
    ).splitlines() == [
        "| variant | 1 | 900 | answers at 900 | ms at 900 |",
        "| --- | ---: | ---: | ---: | ---: |",
        "| default | .250 | 1 | 1 | 3600.0 |",
        "| without times | .000 | .250 | .000 | 3600.0 |",
    ]


def test_the_page_says_that_everything_was_stored_first() -> None:
    page = ablation.report([measured("default", (1, 4))], 5)

    assert "1 questions, 5 namespaces, all stored before the first question" in page
    assert "| default | .250 | 1 |" in page


def test_every_variable_of_a_variant_is_a_setting_that_takes_its_value_and_changes_something() -> None:
    known = {one.variable for one in describe(AllocatorSettings, PREFIX)}

    for variant in VARIANTS:
        assert known.issuperset(variant.variables), variant.name
        changes = load(AllocatorSettings, PREFIX, variant.variables) != AllocatorSettings()
        assert changes is bool(variant.variables), variant.name


def test_the_plain_hybrid_switches_off_what_the_others_switch_off_one_by_one() -> None:
    alone = [one for one in VARIANTS if any(value == "0" for value in one.settings.values())]
    (plain,) = (one for one in VARIANTS if one.name == PLAIN)

    assert plain.settings == {
        name: value for one in alone if one is not plain for name, value in one.settings.items()
    }


def test_no_two_variants_are_the_same_and_the_default_changes_nothing() -> None:
    changes = [(sorted(one.variables.items()), one.strategy) for one in VARIANTS]

    assert all(changes.count(one) == 1 for one in changes)
    assert VARIANTS[0].name == DEFAULT
    assert not VARIANTS[0].variables


def test_variants_are_chosen_by_name_and_an_unknown_name_is_refused_with_those_there_are() -> None:
    assert [one.name for one in ablation.named([PLAIN, DEFAULT])] == [DEFAULT, PLAIN]
    assert ablation.named([]) == VARIANTS
    with pytest.raises(UnknownVariantError, match="'without times'"):
        ablation.named(["without time"])
