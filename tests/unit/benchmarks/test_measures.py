from benchmarks.measures import count_found, is_answered, recall_at, reciprocal_rank
from benchmarks.packing import pack
from benchmarks.words import content_words
from satchel.runtime.tokens import count_tokens


def test_evidence_counts_when_it_stands_word_for_word_however_lines_are_broken() -> None:
    context = "7 May:\nAna: The lamp of the north\n tower is changed\tin April."

    assert count_found(["The lamp of the north tower is changed in April."], context) == 1


def test_evidence_that_is_shortened_or_said_otherwise_does_not_count() -> None:
    context = "The lamp of the north tower is changed."

    assert count_found(["The lamp of the north tower is changed in April.", "The north lamp"], context) == 0


def test_each_piece_of_evidence_counts_for_itself() -> None:
    assert count_found(["one thing", "another thing", "a third"], "one thing\na third") == 2


def test_an_answer_is_there_when_four_of_five_content_words_are() -> None:
    answer = "red, blue, green, yellow and white"

    assert is_answered(answer, "white yellow GREEN blue")
    assert not is_answered(answer, "white yellow green")


def test_words_without_meaning_are_not_asked_for_and_plurals_count_as_one_word() -> None:
    assert is_answered("with the boxes of her uncle", "An uncle had boxes.")
    assert is_answered("two lamps", "one lamp, two lamp")
    assert content_words("l'école de la rue") == {"école", "rue"}


def test_an_answer_of_stop_words_alone_is_looked_for_as_it_is() -> None:
    assert content_words("yes") == {"yes"}
    assert not is_answered("yes", "no")


def test_recall_is_the_share_of_the_gold_within_the_depth() -> None:
    ranked = ["a", "b", "c", "d"]

    assert [recall_at(k, ranked, ("b", "d")) for k in (1, 2, 4)] == [0, 0.5, 1]


def test_the_reciprocal_rank_is_that_of_the_first_gold_one() -> None:
    assert reciprocal_rank(["a", "b", "c"], ("c", "b")) == 0.5
    assert reciprocal_rank(["a"], ("c",)) == 0


def test_packing_passes_over_what_does_not_fit_and_keeps_the_budget() -> None:
    texts = ["short one", "a text that is far too long for what is left of it", "last"]
    budget = count_tokens("short one\n") + count_tokens("last\n")

    packed = pack(texts, budget)

    assert packed == "short one\nlast\n"
    assert count_tokens(packed) == budget
