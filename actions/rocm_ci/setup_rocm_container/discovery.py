"""Looking at the node: everything that is read from files is read here, once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from rocm_ci.gpu import Gpu, Node, Tree, Unknown, discover
from rocm_ci.gpu import holders as holder_files
from rocm_ci.gpu.compat import Compatibility, of_module
from rocm_ci.gpu.fdinfo import clients_of, held
from rocm_ci.gpu.kfd import KfdProcess, read_processes
from rocm_ci.gpu.os_release import read_os
from rocm_ci.gpu.rocm import read_rocm
from rocm_ci.setup_rocm_container.found import Found, Holder


def look(tree: Tree, environ: Mapping[str, str], own: Tree | None = None) -> Found:
    """Everything that the checks need of the node and the container.

    Args:
        tree: `--path-root`.
        environ: the job's environment, with what `--visible-devices` sets.
        own: the file system of this process: ROCm is the container's where the root is a host's that has none in opt/.
    """
    node = discover(tree, environ=environ)
    rocm = read_rocm(tree, environ)
    if (
        isinstance(rocm, Unknown)
        and own is not None
        and tree.exists("opt") is not True
        and tree.exists("dev/kfd") is True
    ):
        rocm = read_rocm(own, environ)
    if isinstance(rocm, Unknown):
        answer = Compatibility("unknown", rocm.reason)
    elif node.driver.loaded and (node.driver.module_version or node.driver.kind == "inbox"):
        answer = of_module(node.driver.module_version, rocm.version)
    else:
        answer = Compatibility("unknown", "the driver's version is not known")
    holders, incomplete = _holders(tree, node)
    return Found(node, rocm, read_os(tree), answer, holders, incomplete)


def _holders(tree: Tree, node: Node) -> tuple[tuple[Holder, ...], str]:
    """Processes that have a GPU open or hold memory of one, apart from ourselves, and why some may be missing."""
    seen = holder_files.find_holders(tree)
    kernel = read_processes(tree)
    mine = {os.getpid(), os.getppid()} if tree.root == "/" else set()
    incomplete: list[str] = []
    if seen.problem:
        incomplete.append(seen.problem)
    if seen.unreadable:
        incomplete.append(f"{seen.unreadable} processes of other users may not be looked into")
    listed: Sequence[KfdProcess] = ()
    if isinstance(kernel, Unknown):
        # Without KFD's list a holder outside this PID namespace cannot be seen.
        if seen.own_namespace is not False:
            incomplete.append("this container has a PID namespace of its own")
    else:
        listed = kernel
    by_pid = {process.pid: process for process in listed} if seen.own_namespace is False or tree.root != "/" else {}
    found = []
    for holder in seen.processes:
        if holder.pid in mine:
            continue
        process = by_pid.pop(holder.pid, None)
        amounts = _amounts(tree, holder.pid, process, node.gpus)
        found.append(Holder(holder.pid, holder.name, holder.uid, amounts))
    # What only KFD lists lives outside this PID namespace, or may not be looked into: it has only the host's number.
    visible = {holder.pid for holder in seen.processes}
    for process in listed:
        if process.pid in visible and by_pid:
            continue
        amounts = _kfd_amounts(process, node.gpus)
        if amounts and process.pid not in mine and process.pid not in {holder.pid for holder in found}:
            found.append(Holder(process.pid, "", None, amounts, foreign=seen.own_namespace is not False))
    return tuple(found), "; ".join(incomplete)


def _amounts(tree: Tree, pid: int, process: KfdProcess | None, gpus: Sequence[Gpu]) -> Mapping[str, int]:
    """Memory that a process holds, by GPU: KFD counts compute, fdinfo graphics too; the larger counts."""
    amounts = dict(_kfd_amounts(process, gpus)) if process else {}
    clients = clients_of(tree, pid)
    if isinstance(clients, Unknown):
        return amounts
    for bdf, value in held(clients).items():
        key = next((gpu.key for gpu in gpus if gpu.bdf == bdf), bdf)
        if not isinstance(value, Unknown) and value:
            amounts[key] = max(value, amounts.get(key, 0))
    return amounts


def _kfd_amounts(process: KfdProcess, gpus: Sequence[Gpu]) -> Mapping[str, int]:
    keys = {gpu.kfd_gpu_id: gpu.key for gpu in gpus if gpu.kfd_gpu_id is not None}
    return {
        keys[number]: value
        for number, value in process.vram.items()
        if number in keys and not isinstance(value, Unknown) and value
    }
