from unit.embedder.fakes import HEAD, TAIL, WordTokenizer

from satchel.embedder.model import Role, Span
from satchel.embedder.reading import read, whole_text_spans


def test_short_texts_are_one_framed_row_each_in_order() -> None:
    found = read(["a bb", "ccc"], Role.PASSAGE, WordTokenizer(), max_tokens=8, overlap=0)

    assert [row.tolist() for row in found.rows] == [[HEAD, 11, 12, TAIL], [HEAD, 13, TAIL]]
    assert (Span(0, 0, 4, 4), Span(1, 0, 3, 3)) == found.spans


def test_long_text_goes_on_in_the_next_row_and_no_row_exceeds_the_model() -> None:
    found = read(["a b c d e", "z"], Role.PASSAGE, WordTokenizer(), max_tokens=5, overlap=0)

    assert (Span(0, 0, 6, 5), Span(0, 6, 9, 4), Span(1, 0, 1, 3)) == found.spans


def test_prefix_of_the_role_stands_in_every_passage_and_counts() -> None:
    tokenizer = WordTokenizer({Role.QUERY: [77]})

    found = read(["a b c"], Role.QUERY, tokenizer, max_tokens=5, overlap=0)

    assert [row.tolist() for row in found.rows] == [[HEAD, 77, 11, 11, TAIL], [HEAD, 77, 11, TAIL]]


def test_many_and_long_texts_keep_their_order_across_chunks() -> None:
    texts = [f"{'x' * (index % 50)} y" for index in range(200)] + ["word " * 20_000, "last"]

    found = read(texts, Role.PASSAGE, WordTokenizer(), max_tokens=256, overlap=10)

    indices = [span.text_index for span in found.spans]
    assert sorted(indices) == indices
    assert set(range(len(texts))) == set(indices)


def test_whole_text_span_covers_the_text_and_sums_its_tokens() -> None:
    spans = [Span(0, 0, 3, 5), Span(0, 2, 6, 4), Span(1, 0, 1, 3)]

    assert (Span(0, 0, 6, 9), Span(1, 0, 1, 3)) == whole_text_spans(["abcdef", "g"], spans)


def test_places_count_in_the_framed_row_and_only_where_codes_are_wanted() -> None:
    tokenizer = WordTokenizer({Role.QUERY: [77]})
    texts = ["a bb c dd", "e"]

    found = read(texts, Role.QUERY, tokenizer, max_tokens=8, overlap=0, with_codes=True)
    without = read(texts, Role.QUERY, tokenizer, max_tokens=8, overlap=0)

    assert [places.tolist() for places in found.coded] == [[3, 5], [2]]
    assert without.coded == ()


def test_tokens_that_passages_share_have_a_code_in_each() -> None:
    found = read(["aa bb cc dd ee"], Role.PASSAGE, WordTokenizer(), max_tokens=6, overlap=1, with_codes=True)

    assert [row.tolist() for row in found.rows] == [[HEAD, 12, 12, 12, 12, TAIL], [HEAD, 12, 12, TAIL]]
    assert [places.tolist() for places in found.coded] == [[1, 2, 3, 4], [1, 2]]


def test_passages_of_a_long_text_share_512_codes() -> None:
    found = read(["word " * 700], Role.PASSAGE, WordTokenizer(), max_tokens=202, overlap=0, with_codes=True)

    assert [len(places) for places in found.coded] == [200, 200, 112, 0]
