"""The words that matter are found whole, wherever they stand and however many there are."""

from __future__ import annotations

import pytest

from rocm_ci.hipify_check.cfamily import vocabulary

NAMES = [b"cudaMalloc", b"cub", b"__syncwarp", b"warpSize"]


def _vocabulary(names=NAMES):
    asked = []

    def matters(word):
        asked.append(word)
        return word in names

    return vocabulary.Vocabulary(matters), asked


def test_words_end_at_what_is_no_letter_digit_or_underscore():
    known, _ = _vocabulary()
    text = b"cudaMalloc(p);\xffcub::x\r\nmy__syncwarp 1warpSize"
    assert known.words(text) == {b"cudaMalloc", b"cub"}


def test_a_word_of_no_interest_is_looked_up_once():
    known, asked = _vocabulary()
    known.words(b"int x; int y;")
    known.words(b"int x; int z;")
    assert sorted(asked) == [b"int", b"x", b"y", b"z"]


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(vocabulary, "_REMEMBERED", 10)
    known, _ = _vocabulary()
    for number in range(100):
        known.words(b"word%d" % number)
        assert len(known._others) <= 10
    assert known.words(b"cub") == {b"cub"}


def test_a_large_text_is_read_in_parts_that_do_not_cut_a_word(monkeypatch):
    monkeypatch.setattr(vocabulary, "_PART", 5)
    known, _ = _vocabulary()
    assert known.words(b"a cudaMalloc b;c cub") == {b"cudaMalloc", b"cub"}


@pytest.mark.parametrize("few", [0, 100])
def test_places_are_those_of_whole_words_in_order(monkeypatch, few):
    monkeypatch.setattr(vocabulary, "_FEW", few)
    code = b"cub cudaMalloc mycub cub_ cubs cudaMalloc(cub)"
    found = vocabulary.places(code, {b"cub", b"cudaMalloc"})
    assert [(place.start, place.word) for place in found] == [
        (0, b"cub"),
        (4, b"cudaMalloc"),
        (31, b"cudaMalloc"),
        (42, b"cub"),
    ]
    assert all(code[place.start : place.end] == place.word for place in found)
