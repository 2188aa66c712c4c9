"""Reading used VRAM again and again for a few microseconds: the files are opened once and read in place."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from rocm_ci.gpu.model import Node
from rocm_ci.gpu.tree import Tree
from rocm_ci.gpu.unknown import MOST, Unknown

_GONE = frozenset({errno.ENODEV, errno.ENOENT, errno.ENXIO, errno.EIO})
_LONGEST = 64


@dataclass(frozen=True, slots=True)
class Channel:
    """One counter that is read.

    Attributes:
        key: PCI address of the socket.
        gpus: indexes of the GPUs in `Node.gpus` that share the counter; more than one in a divided socket.
        path: its file below the root; None when the socket has none.
        reason: why there is none.
    """

    key: str
    gpus: tuple[int, ...]
    path: str | None
    reason: str = ""


class VramSampler:
    """Used bytes of each socket. Not for several threads at once.

    Attributes:
        channels: what is read, in the order of `read`.
        lost: position → why that device is gone; it stays lost.
        reasons: position → why its last reading was unknown.
    """

    def __init__(self, channels: Sequence[Channel], root: Tree | Path | str = "/") -> None:
        self.channels = tuple(channels)
        self.lost: dict[int, str] = {}
        self.reasons: dict[int, str] = {}
        self._tree = root if isinstance(root, Tree) else Tree(root)
        self._handles = [-1] * len(self.channels)
        self._next = 0
        for position, channel in enumerate(self.channels):
            if channel.path is None:
                self.reasons[position] = channel.reason or "it has no counter"
            else:
                self._open(position, channel.path)

    @classmethod
    def of(cls, node: Node, root: Tree | Path | str = "/", *, only: Sequence[int] | None = None) -> VramSampler:
        """A sampler of the sockets of a node, or of those that hold one of the GPUs in `only` (indexes)."""
        wanted = None if only is None else set(only)
        return cls(
            [
                Channel(socket.bdf, socket.gpus, socket.used_path, socket.unknown.get("vram_used_bytes", ""))
                for socket in node.sockets
                if wanted is None or wanted.intersection(socket.gpus)
            ],
            root,
        )

    def read(self) -> list[int | None]:
        """Used bytes of each channel; None where it is lost, or cannot be read just now."""
        self._look_at_one()
        values: list[int | None] = []
        add = values.append
        pread = os.pread
        for position, handle in enumerate(self._handles):
            if handle < 0:
                add(None)
            else:
                try:
                    data = pread(handle, _LONGEST, 0)
                except OSError as error:
                    add(None)
                    self._failed(position, error)
                else:
                    text = data[:-1]
                    # What the kernel writes is digits and a line feed; anything else is looked at closely.
                    add(
                        int(text)
                        if text.isdigit() and len(text) < 19 and data[-1:] == b"\n"
                        else self._odd(position, data)
                    )
        return values

    def close(self) -> None:
        """Give the files back."""
        for handle in self._handles:
            if handle >= 0:
                os.close(handle)
        self._handles = [-1] * len(self._handles)

    def __enter__(self) -> VramSampler:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self, position: int, path: str) -> None:
        real = self._tree.path(path)
        if not isinstance(real, Unknown):
            try:
                self._handles[position] = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
                return
            except OSError as error:
                real = Unknown(f"{path}: {error.strerror}", error.errno)
        (self.lost if real.errno in _GONE else self.reasons)[position] = real.reason

    def _look_at_one(self) -> None:
        """See whether one file, another at each call, was removed or put anew: an open file would never tell."""
        if not self._handles:
            return
        self._next = position = (self._next + 1) % len(self._handles)
        handle, path = self._handles[position], self.channels[position].path
        if path is None or position in self.lost:
            return
        if handle < 0:
            self._open(position, path)
        elif os.fstat(handle).st_nlink == 0:
            self._drop(position)
            self._open(position, path)

    def _failed(self, position: int, error: OSError) -> None:
        reason = f"{self.channels[position].path}: {error.strerror}"
        if error.errno in _GONE:
            self.lost[position] = reason
            self._drop(position)
        else:
            self.reasons[position] = reason

    def _odd(self, position: int, data: bytes) -> int | None:
        text = data.strip(b"\0 \t\r\n")
        if len(data) < _LONGEST and text.isdigit() and (value := int(text)) <= MOST:
            return value
        what = "holds no number" if text else "is empty"
        self.reasons[position] = f"{self.channels[position].path} {what}"
        return None

    def _drop(self, position: int) -> None:
        os.close(self._handles[position])
        self._handles[position] = -1
