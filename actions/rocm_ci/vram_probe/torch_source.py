"""Used VRAM by torch, in a process of the user's own interpreter: for machines where the kernel's files are missing.

It counts as the driver does, for the whole device and all processes (`torch.cuda.mem_get_info`). Its own GPU context
takes memory too, which is in every figure, before as after; so differences are right.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from rocm_ci.runner.errors import InfraError
from rocm_ci.runner.text import one_line
from rocm_ci.vram_probe.source import Device, Holder

STREAM = Path(__file__).parent / "user" / "torch_stream.py"
_START_LIMIT = 120.0
_ANSWER_LIMIT = 30.0
_LONGEST = 1024 * 1024
_NOTE = "the figures include the probe's own GPU context"


class TorchSource:
    """A `source.Source` by `torch.cuda.mem_get_info`.

    Args:
        python: the user's interpreter.
        environ: its environment.
        start_limit: seconds that importing torch and opening the GPUs may take.
        answer_limit: seconds that a reading may take; a driver that hangs answers never.

    Raises:
        InfraError: there is no such interpreter, it has no torch, or its torch has no GPU.
    """

    name = "torch"
    note = _NOTE

    def __init__(
        self,
        python: str,
        environ: Mapping[str, str],
        *,
        start_limit: float = _START_LIMIT,
        answer_limit: float = _ANSWER_LIMIT,
    ) -> None:
        self.lost: Mapping[int, str] = {}
        self.reasons: Mapping[int, str] = {}
        self._answer_limit = answer_limit
        self._rest = b""
        try:
            self._process = subprocess.Popen(
                [python, str(STREAM)],
                env=dict(environ),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise InfraError(
                f"`{python}` cannot be run: {(error.strerror or str(error)).lower()}",
                help="name the interpreter that has torch with `python`",
            ) from error
        try:
            self.devices = self._head(python, start_limit)
        except BaseException:
            self.close()
            raise

    def read(self) -> Sequence[int | None]:
        """Used bytes of each device now."""
        values: list[int | None] = [None] * len(self.devices)
        answer: object = None
        if len(self.lost) < len(self.devices):
            try:
                self._write(b"\n")
                answer = json.loads(self._line(self._answer_limit))
            except (OSError, ValueError, TimeoutError) as error:
                why = str(error) if isinstance(error, TimeoutError) else "the process that reads it by torch ended"
                self.lost = {device.index: why for device in self.devices}
        if isinstance(answer, list) and len(answer) == len(values):
            for index, value in enumerate(answer):
                if isinstance(value, int):
                    values[index] = value
                else:
                    self.lost = {index: one_line(str(value), 200), **self.lost}
        return values

    def holders(self) -> tuple[list[Holder], str]:
        """Nobody: torch tells the device's memory only."""
        return [], "torch does not tell who holds memory"

    def close(self) -> None:
        """End the process."""
        process = self._process
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):  # it may hang inside the driver
                process.wait(5)

    def _head(self, python: str, limit: float) -> tuple[Device, ...]:
        remedy = "a machine without an AMD GPU is watched by torch with CUDA; name its interpreter with `python`"
        try:
            head = json.loads(self._line(limit))
        except TimeoutError as error:
            raise InfraError(
                f"torch in `{python}` did not open the GPUs within {limit:g} s",
                help="the driver hangs: look at dmesg, reset the GPU or the node",
            ) from error
        except (OSError, ValueError) as error:
            raise InfraError(f"`{python}` ended before it told of any GPU", help=remedy) from error
        if not isinstance(head, dict) or "error" in head or not head.get("devices"):
            why = one_line(str(head.get("error", "no GPU")) if isinstance(head, dict) else "no answer", 300)
            raise InfraError(f"torch in `{python}` shows no GPU: {why}", help=remedy)
        return tuple(_device(index, entry) for index, entry in enumerate(head["devices"]))

    def _write(self, data: bytes) -> None:
        assert self._process.stdin is not None  # noqa: S101 - opened above
        self._process.stdin.write(data)
        self._process.stdin.flush()

    def _line(self, limit: float) -> bytes:
        assert self._process.stdout is not None  # noqa: S101 - opened above
        handle = self._process.stdout.fileno()
        deadline = time.monotonic() + limit
        while b"\n" not in self._rest:
            ready, _, _ = select.select([handle], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError(f"torch gave no reading within {limit:g} s: the driver hangs")
            data = os.read(handle, 65536)
            if not data or len(self._rest) > _LONGEST:
                raise OSError("it ended")
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line


def _device(index: int, entry: Mapping[str, object]) -> Device:
    unknown = {}
    texts: dict[str, str | None] = {}
    for name, why in (
        ("bdf", "this torch does not tell the PCI address"),
        ("gfx", "torch names no gfx target here: it is no ROCm GPU"),
        ("product", "torch does not name it"),
    ):
        value = entry.get(name)
        texts[name] = str(value) if value else None
        if not value:
            unknown[name] = why
    capacity = entry.get("capacity")
    if not isinstance(capacity, int):
        unknown["capacity_bytes"] = "torch does not tell it"
    return Device(
        index=index,
        bdf=texts["bdf"],
        gfx=texts["gfx"],
        product=texts["product"],
        partition="",
        capacity_bytes=capacity if isinstance(capacity, int) else None,
        unknown=unknown,
    )
