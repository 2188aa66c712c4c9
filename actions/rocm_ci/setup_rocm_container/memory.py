"""Memory that is in use before the job begins: whose is it, and can it be had back."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rocm_ci.gpu.model import Gpu, Socket
from rocm_ci.setup_rocm_container.found import Holder
from rocm_ci.setup_rocm_container.limits import size
from rocm_ci.setup_rocm_container.model import Check, fail, ok, skip, warn
from rocm_ci.setup_rocm_container.tables import limits

_RESET = "on the node, taken out of service: sudo amd-smi reset --gpureset --gpu all   # or reboot"


def check(
    gpus: Sequence[Gpu],
    sockets: Sequence[Socket],
    holders: Sequence[Holder],
    incomplete: str,
    *,
    recorded: bool = False,
) -> Check:
    """Whether the GPUs' memory is free.

    Nothing is ended here: a process that is not ours may be another job's.

    Args:
        gpus: those that this job may use.
        sockets: the cards behind them: the kernel counts what is in use by card, not by partition.
        holders: processes that hold GPUs, as far as they can be seen.
        incomplete: why some could not be seen; empty when all could.
        recorded: the holders are not those of this machine.
    """
    if gpus and all(gpu.apu for gpu in gpus):
        return skip("vram", "an APU shares the host's memory; what of it is taken says nothing")
    mine = [socket for socket in sockets if any(gpu.index in socket.gpus and not gpu.apu for gpu in gpus)]
    known = [
        (socket, socket.vram_used_bytes, socket.vram_total_bytes)
        for socket in mine
        if socket.vram_used_bytes is not None and socket.vram_total_bytes
    ]
    if not known:
        reasons = [reason for socket in mine for reason in socket.unknown.values()]
        return skip("vram", reasons[0] if reasons else "no file tells how much memory is in use")
    dirty = [(socket, used, total) for socket, used, total in known if used > _floor(total)]
    if not dirty:
        unread = len(mine) - len(known)
        most = size(max(used for _, used, _ in known))
        return ok(
            "vram", f"free: at most {most} in use on a card" + (f"; {unread} could not be read" if unread else "")
        )
    worst, used, total = max(dirty, key=lambda entry: entry[1] / entry[2])
    amount = f"{size(used)} of {size(total)} ({100 * used / total:.0f} %) in use on {worst.bdf} before the job"
    if len(dirty) > 1:
        amount += f", and on {len(dirty) - 1} more"
    keys = {gpu.key for gpu in gpus if gpu.index in worst.gpus}
    who, fix = _owners(holders, keys, used, incomplete, recorded=recorded)
    text = f"{amount}; {who}"
    return fail("vram", text, fix) if used * 100 >= total * limits()["vram_fail_percent"] else warn("vram", text, fix)


def _floor(total: int) -> int:
    return max(limits()["vram_floor_bytes"], total * limits()["vram_warn_percent"] // 100)


def _owners(
    holders: Sequence[Holder], keys: Collection[str], used: int, incomplete: str, *, recorded: bool
) -> tuple[str, str]:
    """Whose the memory of a card is, a clause; and what to do."""
    if recorded and not holders:
        return "whose it is a recorded tree does not tell", "on the node: sudo fuser -v /dev/kfd /dev/dri/renderD*"
    amounts = [(holder, sum(held for key, held in holder.bytes.items() if key in keys)) for holder in holders]
    # One with memory on this card; else those that only have a device open, of whom no amount is known.
    shown = [entry for entry in amounts if entry[1]] or [entry for entry in amounts if not entry[0].bytes]
    if not shown:
        if incomplete:
            return (
                f"whose it is cannot be seen from here ({incomplete})",
                f"on the node: sudo fuser -v /dev/kfd /dev/dri/renderD*; {_RESET}",
            )
        return "unowned: no process holds it, so the node needs a reset", _RESET
    shown.sort(key=lambda entry: -entry[1])
    names = ", ".join(_name(holder, held) for holder, held in shown[:4])
    names += f" and {len(shown) - 4} more" if len(shown) > 4 else ""
    rest = used - sum(held for _, held in shown)
    if shown[0][1] and rest > _floor(used):
        names += f"; {size(rest)} more belong to no process that can be seen"
    pids = [str(holder.pid) for holder, _ in shown[:8]]
    where = "on the node: " if any(holder.foreign for holder, _ in shown) else ""
    fix = f"{where}ps -o pid,user,lstart,args -p {','.join(pids)}; kill -INT {' '.join(pids)}   # only what is yours"
    return f"held by {names}", fix


def _name(holder: Holder, held: int) -> str:
    detail = [f"uid {holder.uid}"] if holder.uid is not None else []
    detail += [size(held)] if held else []
    detail += ["number of the host"] if holder.foreign else []
    return f"process {holder.pid} {holder.name}".rstrip() + (f" ({', '.join(detail)})" if detail else "")
