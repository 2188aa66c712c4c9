"""Repeated reading: spikes, lost cards, files that are empty for a moment."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from rocm_ci.gpu import VramSampler, discover
from support.fake_node import FakeGpu, FakeNode, run_script

A, B = "0000:05:00.0", "0000:15:00.0"


def sampler_of(fake: FakeNode) -> VramSampler:
    return VramSampler.of(discover(fake.root), fake.root)


def test_a_spike_is_seen(tmp_path: Path) -> None:
    fake = FakeNode(tmp_path, [FakeGpu(A, used=10), FakeGpu(B, used=20)])
    with sampler_of(fake) as sampler:
        seen = run_script(fake, [lambda n: n.use(A, 9 << 30), lambda n: n.use(A, 10)], sampler.read)
    assert seen == [[10, 20], [9 << 30, 20], [10, 20]]
    assert [channel.key for channel in sampler.channels] == [A, B]


def test_a_card_that_vanishes_is_lost_and_stays_lost(tmp_path: Path) -> None:
    fake = FakeNode(tmp_path, [FakeGpu(A, used=10), FakeGpu(B, used=20)])
    with sampler_of(fake) as sampler:
        fake.lose(B)
        for _ in range(2):
            values = sampler.read()
        assert values == [10, None]
        assert set(sampler.lost) == {1}
        assert sampler.read() == [10, None]


@pytest.mark.parametrize("code", [errno.ENODEV, errno.ENOENT, errno.EIO, errno.EPERM, errno.EBUSY])
def test_errors_of_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    fake = FakeNode(tmp_path, [FakeGpu(A)])
    with sampler_of(fake) as sampler:

        def fails(*_: object) -> bytes:
            raise OSError(code, os.strerror(code))

        monkeypatch.setattr(os, "pread", fails)
        assert sampler.read() == [None]
        monkeypatch.undo()
        gone = code in (errno.ENODEV, errno.ENOENT, errno.EIO)
        assert bool(sampler.lost) is gone
        assert sampler.read() == ([None] if gone else [297771008])
        assert gone or os.strerror(code) in sampler.reasons[0]


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"N/A\n", b"\0\0\0", b"-5\n", b"1_0\n", b"5" * 64, b"18446744073709551616\n"]
)
def test_an_odd_value_is_unknown_for_that_moment(tmp_path: Path, content: bytes) -> None:
    fake = FakeNode(tmp_path, [FakeGpu(A)])
    with sampler_of(fake) as sampler:
        (tmp_path / fake.device(A) / "mem_info_vram_used").write_bytes(content)
        assert sampler.read() == [None]
        assert sampler.reasons[0]
        assert not sampler.lost
        fake.use(A, 7)
        assert sampler.read() == [7]


@pytest.mark.parametrize(("content", "value"), [(b"12", 12), (b"12\0\0", 12), (b"18446744073709551615\n", 2**64 - 1)])
def test_values_without_the_usual_end(tmp_path: Path, content: bytes, value: int) -> None:
    fake = FakeNode(tmp_path, [FakeGpu(A)])
    (tmp_path / fake.device(A) / "mem_info_vram_used").write_bytes(content)
    with VramSampler.of(discover(FakeNode(tmp_path / "other", [FakeGpu(A)]).root), fake.root) as sampler:
        assert sampler.read() == [value]


def test_a_file_that_is_put_anew_is_followed(tmp_path: Path) -> None:
    fake = FakeNode(tmp_path, [FakeGpu(A)])
    with sampler_of(fake) as sampler:
        path = tmp_path / fake.device(A) / "mem_info_vram_used"
        fresh = path.with_name("fresh")
        fresh.write_bytes(b"77\n")
        fresh.replace(path)
        assert sampler.read() == [77]
        assert not sampler.lost


def test_sockets_are_sampled_once_whatever_their_partitions(tmp_path: Path) -> None:
    fake = FakeNode(tmp_path, [FakeGpu(f"0000:{bus:02x}:00.0", parts=8, compute="CPX") for bus in range(5, 13)])
    node = discover(fake.root)
    with VramSampler.of(node, fake.root) as sampler:
        assert len(sampler.read()) == 8
        assert sampler.channels[1].gpus == tuple(range(8, 16))
    with VramSampler.of(node, fake.root, only=[9]) as sampler:
        assert [channel.key for channel in sampler.channels] == ["0000:06:00.0"]


def test_a_socket_without_a_counter_is_unknown_with_a_reason(tmp_path: Path) -> None:
    fake = FakeNode(tmp_path, [FakeGpu(A)])
    (tmp_path / fake.device(A) / "mem_info_vram_used").unlink()
    with sampler_of(fake) as sampler:
        assert sampler.read() == [None]
        assert "mem_info_vram_used" in sampler.reasons[0]


def test_it_gives_its_files_back(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    fake = FakeNode(tmp_path, [FakeGpu(A), FakeGpu(B)])
    with sampler_of(fake) as sampler:
        sampler.read()
    sampler.close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
