"""Texts in scripts without spaces are found by whatever part of them is asked for, without an embedder."""

import random

import pytest
from contract.store.backends import RunningStore

from requirements import requirement
from satchel.api.store.v1 import search_service_pb2 as pb

SENTENCES = {
    "Chinese": "我们选择数据库因为账本需要事务",
    "Chinese, rare": "𠮷野家在東京開店",
    "Japanese": "ひらがなとカタカナと漢字を混ぜた文章",
    "Korean": "데이터베이스를선택했습니다",
    "Thai": "เราเลือกฐานข้อมูลเพราะบัญชี",
    "Khmer": "យើងជ្រើសរើសមូលដ្ឋាន",
}
SCRIPTS = {
    "Han": (0x4E00, 0x9FFF),
    "Hangul": (0xAC00, 0xD7A3),
    "Hiragana": (0x3041, 0x3096),
    "Katakana": (0x30A1, 0x30FA),
}
DISTRACTION = "An English text, 其他的中文文本, 別の日本語, 다른한국어"


def parts_of(text: str) -> list[str]:
    """Return every part of a text that has at most four code points, and the whole."""
    return [text, *(text[at : at + n] for n in range(1, 5) for at in range(len(text) - n + 1))]


@requirement("search:any-script")
@pytest.mark.parametrize("language", SENTENCES)
async def test_every_part_of_a_sentence_without_spaces_finds_it(
    running_store: RunningStore, language: str
) -> None:
    text = SENTENCES[language]
    async with running_store() as client:
        client.embedder.is_down = True
        kept = (await client.store(f"« {text} »")).id
        await client.store(DISTRACTION)
        missed = [
            part
            for part in parts_of(text)
            if kept
            not in [
                hit.memory_id
                for hit in (await client.search.SearchText(pb.SearchTextRequest(query=part))).hits
            ]
        ]

    assert missed == []


@requirement("search:any-script")
@pytest.mark.parametrize("script", SCRIPTS)
async def test_of_texts_of_any_characters_a_part_finds_just_those_that_hold_it(
    running_store: RunningStore, script: str
) -> None:
    chance = random.Random(script)
    texts = ["".join(chr(chance.randint(*SCRIPTS[script])) for _ in range(9)) for _ in range(30)]
    async with running_store() as client:
        ids = {(await client.store(text)).id: text for text in texts}
        for text in texts:
            part = text[3:6]
            answer = await client.search.SearchText(pb.SearchTextRequest(query=part))
            whole = {ids[hit.memory_id] for hit in answer.hits if hit.all_words}

            assert text in whole
            assert all(part[:2] in found and part[1:] in found for found in whole)
