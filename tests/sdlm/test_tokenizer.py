"""Tokenizers: round trip, one token per digit, the chat template, mask tokens."""

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sdlm.tokenizer import (
    MASK,
    SPECIAL_TOKENS,
    PreTrainedTokenizerFast,
    add_special_token,
    chat_ids,
    check_mask_token,
    end_token_ids,
    load_tokenizer,
    mask_text,
    read_texts,
    save_tokenizer,
    train_tokenizer,
)
from tests.fakes import tiny_config
from tests.full_disk import files_of_at_most

TEXTS = [
    f"Ann has {n} apples and buys {n * 3} more, so she has {n} + {n * 3} = {n * 4}.\n#### {n * 4}"
    for n in range(200)
]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> PreTrainedTokenizerFast:
    folder = tmp_path_factory.mktemp("tokenizer")
    train_tokenizer(TEXTS, 280, folder)
    return load_tokenizer(folder)


def encode(tokenizer: PreTrainedTokenizerFast, text: str) -> list[int]:
    return tokenizer(text, add_special_tokens=False)["input_ids"]


# The trained tokenizer never changes, so sharing it between examples is safe.
TOKENIZERS: list[PreTrainedTokenizerFast] = []


@pytest.fixture(scope="module", autouse=True)
def _shared(tokenizer: PreTrainedTokenizerFast):
    TOKENIZERS.append(tokenizer)
    yield
    TOKENIZERS.clear()


@given(st.text() | st.text("0123456789 .,'\n!?aAn", max_size=60))
@example(" 42 , 7 .\r\n\t½٣ 12,345.60")
@example("it 's  a  test . <|im_end|> x")
def test_decoding_gives_the_text_back(text: str):
    tokenizer = TOKENIZERS[0]
    assert tokenizer.decode(encode(tokenizer, text)) == text


@given(st.text("0123456789 .,$%+-=/x\n", max_size=40))
def test_every_digit_is_the_same_single_token(text: str):
    tokenizer = TOKENIZERS[0]
    token_of = {digit: tokenizer.convert_tokens_to_ids(digit) for digit in "0123456789"}
    ids = encode(tokenizer, text)
    digits = [token_of[character] for character in text if character in token_of]
    assert [i for i in ids if i in token_of.values()] == digits
    others = set(ids) - set(token_of.values())
    assert not any(character.isdigit() for character in tokenizer.decode(list(others)))


def test_merges_are_learnt(tokenizer: PreTrainedTokenizerFast):
    assert len(tokenizer) == 280
    assert len(encode(tokenizer, TEXTS[5])) < 0.7 * len(TEXTS[5])


def test_chat_template_is_chatml_without_a_default_system_message(
    tokenizer: PreTrainedTokenizerFast,
):
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "1+1?"},
        {"role": "assistant", "content": "2"},
        {"role": "user", "content": "2+2?"},
    ]
    assert tokenizer.decode(chat_ids(tokenizer, messages)) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n1+1?<|im_end|>\n"
        "<|im_start|>assistant\n2<|im_end|>\n<|im_start|>user\n2+2?<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    assert "system" not in tokenizer.decode(chat_ids(tokenizer, messages[1:2]))
    tokenizer_without = load_tokenizer(Path(tokenizer.name_or_path))
    tokenizer_without.chat_template = None
    with pytest.raises(ValueError, match="no chat template"):
        chat_ids(tokenizer_without, messages)


def test_special_tokens(tokenizer: PreTrainedTokenizerFast):
    assert tokenizer.convert_tokens_to_ids(SPECIAL_TOKENS) == [0, 1, 2, 3]
    assert (tokenizer.eos_token, tokenizer.pad_token) == ("<|im_end|>", "<|endoftext|>")
    assert end_token_ids(tokenizer) == {0, 2}


@pytest.mark.parametrize(("mask", "fits"), [(3, True), (279, False), (280, True), (400, True)])
def test_mask_token_is_none_that_text_contains(
    tokenizer: PreTrainedTokenizerFast, mask: int, fits: bool
):
    config = tiny_config(vocab_size=512, mask_token_id=mask)
    if fits:
        check_mask_token(tokenizer, config)
    else:
        with pytest.raises(ValueError, match=r"text_mask_token_id 279 is '.+', an ordinary token"):
            check_mask_token(tokenizer, config)


@pytest.mark.parametrize(("mask", "text"), [(None, None), (3, MASK), (280, None), (400, None)])
def test_a_mask_past_the_tokenizer_has_no_text(
    tokenizer: PreTrainedTokenizerFast, mask: int | None, text: str | None
):
    block = None if mask is None else 4
    config = tiny_config(vocab_size=512, mask_token_id=mask, block_size=block)
    assert mask_text(tokenizer, config) == text


def test_adding_a_special_token(tokenizer: PreTrainedTokenizerFast, tmp_path: Path):
    ours = load_tokenizer(Path(tokenizer.name_or_path))
    assert add_special_token(ours, MASK) == 3
    assert add_special_token(ours, "<|other|>") == 280
    save_tokenizer(ours, tmp_path)
    again = load_tokenizer(tmp_path)
    assert encode(again, "a<|other|>") == [*encode(again, "a"), 280]
    check_mask_token(again, tiny_config(vocab_size=512, mask_token_id=280))


def test_a_model_folder_does_not_change_the_tokenizer(
    tokenizer: PreTrainedTokenizerFast, tmp_path: Path
):
    """Beside a Qwen2 config, AutoTokenizer would normalise text and split words Qwen2's way."""
    (tmp_path / "config.json").write_text('{"model_type": "qwen2"}')
    save_tokenizer(tokenizer, tmp_path)
    again = load_tokenizer(tmp_path)
    first, second = (json.loads(t.backend_tokenizer.to_str()) for t in (tokenizer, again))
    for part in ("normalizer", "pre_tokenizer", "decoder", "model"):
        assert first[part] == second[part]
    assert again.decode(encode(again, "e\u0301")) == "e\u0301"
    assert again.added_tokens_decoder.keys() == tokenizer.added_tokens_decoder.keys()
    settings = json.loads((tmp_path / "tokenizer_config.json").read_text())
    assert settings["tokenizer_class"] == "PreTrainedTokenizerFast"
    assert settings["additional_special_tokens"] == ["<|im_start|>", "<|mask|>"]


@pytest.mark.parametrize("size", [100, 2000])
def test_a_full_disk_leaves_the_old_tokenizer(
    tokenizer: PreTrainedTokenizerFast, tmp_path: Path, size: int
):
    save_tokenizer(tokenizer, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    ours = load_tokenizer(tmp_path)
    add_special_token(ours, "<|other|>")
    with pytest.raises(OSError, match="large"), files_of_at_most(size):
        save_tokenizer(ours, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_missing_and_broken_tokenizers_are_errors(tmp_path: Path):
    with pytest.raises(ValueError, match="holds no tokenizer"):
        load_tokenizer(tmp_path / "nowhere")
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(ValueError, match="can't be read"):
        load_tokenizer(tmp_path)
    with pytest.raises(ValueError, match="vocab_size is 100; at least 260"):
        train_tokenizer(TEXTS, 100, tmp_path)


def test_texts_of_a_data_file(tmp_path: Path):
    data = tmp_path / "data.jsonl"
    data.write_text(
        '{"messages": [{"role": "assistant", "content": "a"}], "more": 1}\n'
        '{"prompt": "b", "response": "c"}\n{"prompt": "d"}\n'
    )
    assert list(read_texts(data, 2)) == ["a", "b", "c"]
    with pytest.raises(ValueError, match=r"data\.jsonl:3 has neither messages, nor prompt and"):
        list(read_texts(data, 3))
    with pytest.raises(ValueError, match="does not exist"):
        list(read_texts(tmp_path / "none.jsonl", 3))
