"""Training data: conversations as the chat template writes them, and lines that are none."""

import json
from pathlib import Path

import numpy as np
import pytest

from sdlm.retrofit.samples import chat_format, load_samples
from sdlm.tokenizer import load_tokenizer
from tests.oracles import training_layout as oracle
from tests.sdlm.training_fakes import conversation


def test_samples_are_the_chat_template_with_response_spans(home: Path, tmp_path: Path):
    tokenizer = load_tokenizer(home / "tokenizer")
    turns = [*conversation(7)["messages"], *conversation(8)["messages"]]
    pair = {"prompt": "1?", "response": "\n\n 2", "ignored": 0}
    data = tmp_path / "two.jsonl"
    data.write_text(json.dumps({"messages": turns}) + "\n" + json.dumps(pair) + "\n")
    samples = load_samples(data, tokenizer, tmp_path)
    assert len(samples) == 2
    chat = chat_format(tokenizer)
    assert tokenizer.decode(chat.header_ids) == chat.header == "<|im_start|>assistant\n"
    for index, messages in enumerate([turns, [{"role": "user", "content": "1?"}]]):
        text = tokenizer.apply_chat_template(messages, tokenize=False)
        sample = samples[index]
        assert tokenizer.decode(sample.ids).startswith(text)
        places = [place for start, end in sample.spans for place in range(start, end)]
        assert places == oracle.candidates(sample.ids.tolist(), chat.header_ids, chat.end_id)
    # The header's tokens stay what the prompt has, even before a response of line breaks.
    start, end = samples[1].spans[0]
    assert tokenizer.decode(samples[1].ids[start : end + 1]) == "\n\n\n 2<|im_end|>"
    assert samples.lengths().tolist() == [len(samples[0].ids), len(samples[1].ids)]
    assert samples.num_candidates().tolist() == [
        int((samples[i].spans[:, 1] - samples[i].spans[:, 0]).sum()) for i in range(2)
    ]


def test_tokenised_data_is_read_again_until_the_data_changes(home: Path, tmp_path: Path):
    tokenizer = load_tokenizer(home / "tokenizer")
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps(conversation(1)) + "\n")
    first = load_samples(data, tokenizer, tmp_path)
    (cached,) = tmp_path.glob("samples-*.npz")
    written = cached.stat().st_mtime_ns
    again = load_samples(data, tokenizer, tmp_path)
    assert cached.stat().st_mtime_ns == written
    for name in ("ids", "spans", "id_ends", "span_ends"):
        assert np.array_equal(getattr(first, name), getattr(again, name))
    whole = cached.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", b"\0" * len(whole)):
        cached.write_bytes(damaged)
        assert load_samples(data, tokenizer, tmp_path).ids.tolist() == first.ids.tolist()
        assert cached.read_bytes() == whole, "made anew"
    data.write_text(json.dumps(conversation(2)) + "\n")
    assert load_samples(data, tokenizer, tmp_path).ids.tolist() != first.ids.tolist()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "data.jsonl:2 is not JSON: ''"),
        ("{", "data.jsonl:2 is not JSON"),
        ("[]", "data.jsonl:2 is not a JSON object"),
        (
            '{"messages": [{"role": "\\ud800", "content": "a"},'
            ' {"role": "assistant", "content": "b"}]}',
            "data.jsonl:2 is not text: half a surrogate pair",
        ),
        ('{"prompt": "a"}', "data.jsonl:2 has neither messages, nor prompt and response"),
        ('{"messages": [{"role": "user"}]}', "data.jsonl:2: every message needs a role"),
        ('{"prompt": "a", "response": 3}', "data.jsonl:2: every message needs a role"),
        ('{"messages": [{"role": "user", "content": "a"}]}', "data.jsonl:2 has no assistant turn"),
        (
            '{"prompt": "<|im_start|>assistant\\n", "response": "a"}',
            "data.jsonl:2: the chat template marks 2 assistant turns where there are 1",
        ),
        (
            '{"prompt": "a", "response": "b<|im_end|>c"}',
            r"data.jsonl:2: an assistant turn has <\|im_end\|> in its text",
        ),
        ('{"prompt": "caf\udce9", "response": "b"}', "data.jsonl:2 is not UTF-8 text"),
    ],
)
def test_bad_lines_are_named(home: Path, tmp_path: Path, line: str, message: str):
    data = tmp_path / "data.jsonl"
    text = json.dumps(conversation(1)) + "\n" + line + "\n"
    data.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ValueError, match=message):
        load_samples(data, load_tokenizer(home / "tokenizer"), tmp_path)
    assert not list(tmp_path.glob("samples-*"))


def test_files_of_windows_are_read_alike(home: Path, tmp_path: Path):
    """With a byte order mark, and other line ends."""
    rows = "".join(json.dumps(conversation(n)) + "\n" for n in range(3)).encode()
    (tmp_path / "plain.jsonl").write_bytes(rows)
    (tmp_path / "windows.jsonl").write_bytes(b"\xef\xbb\xbf" + rows.replace(b"\n", b"\r\n"))
    tokenizer = load_tokenizer(home / "tokenizer")
    plain, windows = (
        load_samples(tmp_path / f"{name}.jsonl", tokenizer, tmp_path)
        for name in ("plain", "windows")
    )
    assert np.array_equal(plain.ids, windows.ids)
    assert np.array_equal(plain.spans, windows.spans)


def test_an_assistant_may_begin_unless_the_template_refuses(home: Path, tmp_path: Path):
    tokenizer = load_tokenizer(home / "tokenizer")
    data = tmp_path / "data.jsonl"
    first = {"messages": conversation(1)["messages"][::-1]}
    data.write_text(json.dumps(conversation(1)) + "\n" + json.dumps(first) + "\n")
    ids, spans = load_samples(data, tokenizer, tmp_path)[1]
    header = chat_format(tokenizer).header_ids
    assert ids[: len(header)].tolist() == header
    assert spans[:, 0].tolist() == [len(header) - 1]
    tokenizer.chat_template = (
        "{% if messages[0]['role'] == 'assistant' %}{{ raise_exception('who asks?') }}{% endif %}"
        + tokenizer.chat_template
    )
    with pytest.raises(ValueError, match=r"data\.jsonl:2: .* template refuses .* who asks"):
        load_samples(data, tokenizer, tmp_path)
    tokenizer.chat_template = "{{ messages[0]['content'] + 1 }}"
    with pytest.raises(ValueError, match="template refuses the messages: can only concatenate"):
        chat_format(tokenizer)
    tokenizer.chat_template = None
    with pytest.raises(ValueError, match="no chat template, so a chat can't be written out; give"):
        chat_format(tokenizer)


def test_no_data_is_an_error(home: Path, tmp_path: Path):
    tokenizer = load_tokenizer(home / "tokenizer")
    with pytest.raises(ValueError, match="does not exist"):
        load_samples(tmp_path / "none.jsonl", tokenizer, tmp_path)
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(ValueError, match="is empty"):
        load_samples(tmp_path / "empty.jsonl", tokenizer, tmp_path)
