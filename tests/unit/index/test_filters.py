import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from unit.index.fakes import passes

from satchel.index.columns import Columns
from satchel.index.filters import compile_filter, evaluate
from satchel.index.model import Change, Filter
from satchel.index.vocabulary import TagSets, Vocabulary

NAMES = st.sampled_from(["a", "b", "c", "d", "e", "f", "g"])
CHANGES = st.lists(
    st.builds(
        Change,
        revision=st.just(1),
        memory_id=st.just("m"),
        wing=NAMES,
        room=NAMES,
        type=st.integers(1, 5),
        state=st.integers(1, 2),
        effective_us=st.integers(-5, 5),
        session_id=st.one_of(st.just(""), NAMES),
        tags=st.lists(NAMES, max_size=3, unique=True).map(tuple),
    ),
    min_size=1,
    max_size=20,
)
SOME = st.lists(NAMES, max_size=7).map(tuple)
FILTERS = st.builds(
    Filter,
    wings=SOME,
    rooms=SOME,
    types=st.lists(st.integers(1, 5), max_size=5).map(tuple),
    states=st.lists(st.integers(1, 2), max_size=2).map(tuple),
    session_ids=SOME,
    tags=st.lists(NAMES, max_size=2).map(tuple),
    since_us=st.one_of(st.none(), st.integers(-5, 5)),
    until_us=st.one_of(st.none(), st.integers(-5, 5)),
)


@given(CHANGES, FILTERS, st.data())
def test_mask_is_what_the_filter_says_of_each_row(
    changes: list[Change], wanted: Filter, data: st.DataObject
) -> None:
    vocabulary = Vocabulary()
    columns = _columns(changes, vocabulary)
    alive = np.array(data.draw(st.lists(st.booleans(), min_size=len(changes), max_size=len(changes))))

    compiled = compile_filter(wanted, vocabulary)

    expected = [bool(a) and passes(change, wanted) for change, a in zip(changes, alive, strict=True)]
    actual = [False] * len(changes) if compiled is None else evaluate(compiled, columns, alive).tolist()
    assert expected == actual


def test_unknown_name_lets_nothing_pass() -> None:
    assert compile_filter(Filter(rooms=("nowhere",)), Vocabulary()) is None


def test_rows_without_a_session_do_not_pass_a_long_list_of_sessions() -> None:
    vocabulary = Vocabulary()
    names = tuple(f"s{number}" for number in range(10))
    changes = [Change(1, "m", session_id=name) for name in ("", *names)]
    columns = _columns(changes, vocabulary)

    compiled = compile_filter(Filter(session_ids=names), vocabulary)

    assert compiled is not None
    assert evaluate(compiled, columns, np.ones(11, np.bool_)).tolist() == [False] + [True] * 10


def test_set_of_tags_has_one_number_in_any_order() -> None:
    tagsets = TagSets()

    assert tagsets.add(["x", "y"]) == tagsets.add(["y", "x", "y"])
    assert tagsets.holding(["x", "y"]).tolist() == [1]
    assert tagsets.holding(["x", "z"]).tolist() == []


def _columns(changes: list[Change], vocabulary: Vocabulary) -> Columns:
    count = len(changes)
    return Columns(
        memory=np.arange(count, dtype=np.int32),
        passage=np.zeros(count, np.int32),
        wing=np.array([vocabulary.wings.add(c.wing) for c in changes], np.int32),
        room=np.array([vocabulary.rooms.add(c.room) for c in changes], np.int32),
        type=np.array([c.type for c in changes], np.int8),
        state=np.array([c.state for c in changes], np.int8),
        session=np.array(
            [vocabulary.sessions.add(c.session_id) if c.session_id else -1 for c in changes], np.int32
        ),
        tagset=np.array([vocabulary.tagsets.add(c.tags) for c in changes], np.int32),
        effective_us=np.array([c.effective_us for c in changes], np.int64),
    )
