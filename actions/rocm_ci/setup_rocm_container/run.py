"""All checks in order, and what they come to: the node first, then PyTorch, then what is to be installed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rocm_ci.gpu import Gpu, Tree, Unknown
from rocm_ci.runner.environ import RunnerEnv
from rocm_ci.runner.errors import Code, InfraError, UsageError
from rocm_ci.runner.outcome import Outcome
from rocm_ci.runner.processes import ProcessRegistry
from rocm_ci.runner.stage import StageContext
from rocm_ci.setup_rocm_container import (
    devices,
    discovery,
    exports,
    install,
    isolation,
    limits,
    memory,
    nothing,
    place,
    promises,
    requirements,
    torch_build,
    torch_checks,
    vendor,
    workspace,
)
from rocm_ci.setup_rocm_container.found import Found, targets
from rocm_ci.setup_rocm_container.model import Check, fail, ok, skip, verdict
from rocm_ci.setup_rocm_container.output import outcome
from rocm_ci.setup_rocm_container.place import Place
from rocm_ci.setup_rocm_container.torch_build import TorchBuild


@dataclass(frozen=True)
class Request:
    """The options of the command; None is one that was not given."""

    expect_gfx: tuple[str, ...] = ()
    expect_gpus: int | None = None
    min_rocm: str | None = None
    requirements: Path | None = None
    installer: str | None = None
    partition: str | None = None
    expect_os: str | None = None
    expect_kernel: str | None = None
    visible_devices: str | None = None
    python: str | None = None
    path_root: Path = Path("/")


def run(request: Request, context: StageContext, opener: devices.Opener | None = None) -> Outcome:
    """The check behind the command.

    Raises:
        UsageError: an option means nothing.
    """
    env = context.env
    environ = _with_selection(env.child_variables, request.visible_devices)
    interpreter = _interpreter(request.python, environ)
    tree = Tree(request.path_root)
    here = place.find(request.path_root, environ)
    context.progress("looking for GPUs")
    found = discovery.look(tree, environ, Tree("/") if request.path_root != Path("/") else None)
    gpus = found.chosen or found.usable
    if not gpus:
        # A node whose GPUs are there and not mapped has a clearer fault than "none": its device nodes.
        unmapped = [gpu for gpu in found.node.gpus if gpu.visible is False]
        if not unmapped or found.node.kfd_problem:
            lost = nothing.explain(found.node, here)
            return outcome(found, (), [lost], TorchBuild(), exports.Exports({}), printed=False)
        gpus = tuple(found.node.gpus)
    checks = _node_checks(request, found, gpus, here, environ, tree, opener)
    checks += _container_checks(env, here, environ, tree)
    if not here.recorded:
        context.progress("asking AMD's tools")
        checks.append(vendor.check(vendor.ask(context.processes, environ), found))
    else:
        checks.append(skip("vendor-tools", "they cannot look at a recorded tree"))
    job = Job(request, context, found, gpus, here, environ, interpreter)
    torch, more = job.python_checks(fit=verdict(checks)[0] is Code.PASSED)
    checks += more
    collected = exports.collect(
        env.child_variables,
        gfx=targets(gpus),
        rocm=found.rocm_version,
        visible_devices=request.visible_devices,
        torch=torch,
        rocm_path=_rocm_path(found, request.path_root),
    )
    checks.append(exports.check_caches(collected))
    collected = exports.usable(collected)
    github_env = env.variables.get("GITHUB_ENV")
    if verdict(checks)[0] is Code.PASSED:
        exports.write(Path(github_env) if github_env else None, collected)
    return outcome(found, gpus, checks, torch, collected, printed=not github_env)


def _rocm_path(found: Found, root: Path) -> Path:
    """Where the container's ROCm is: where it was found, unless that is another machine's."""
    if root == Path("/") and not isinstance(found.rocm, Unknown) and found.rocm.folder:
        return root / found.rocm.folder
    return exports.ROCM_PATH


def _with_selection(environ: Mapping[str, str], wanted: str | None) -> dict[str, str]:
    """The job's environment as it will be with HIP_VISIBLE_DEVICES set."""
    return {**environ, **({"HIP_VISIBLE_DEVICES": wanted} if wanted else {})}


def _interpreter(wanted: str | None, environ: Mapping[str, str]) -> str | None:
    """The job's interpreter.

    Raises:
        UsageError: the one that was named is not there.
    """
    name = wanted or "python3"
    python = shutil.which(name, path=environ.get("PATH"))
    if wanted and python is None:
        raise UsageError(f"--python: {wanted} is not found", help="name an interpreter that is in the job's image")
    return python


def _node_checks(
    request: Request,
    found: Found,
    gpus: tuple[Gpu, ...],
    here: Place,
    environ: Mapping[str, str],
    tree: Tree,
    opener: devices.Opener | None,
) -> list[Check]:
    node = found.node
    names = [gpu.render_node.rpartition("/")[2] for gpu in gpus if gpu.render_node]
    paths = [here.root / "dev/kfd", *(here.root / "dev/dri" / name for name in names)]
    hidden = [gpu.hidden_reason for gpu in node.gpus if gpu not in gpus]
    hidden += ["the device cgroup"] * node.hidden_nodes
    shown = ", ".join(dict.fromkeys(gpu.product or gpu.gfx or "unknown product" for gpu in gpus))
    unmapped = "" if found.usable else " on the node, and none of them can be used from here"
    override = isolation.check_override(environ)
    return [
        ok("gpu", f"{len(gpus)} x {shown}{unmapped}"),
        devices.check_kfd(here, opener),
        devices.check_render_nodes(here, names, opener),
        devices.check_groups(here, paths, devices.Credentials.of_this_process(), opener),
        promises.check_count(gpus, hidden, request.expect_gpus, here),
        promises.check_gfx(gpus, request.expect_gfx),
        promises.check_partition(gpus, request.partition),
        isolation.check_variables(node.selection, found.usable),
        *([override] if override else []),
        isolation.check_podinfo(tree, environ, found.usable, found.chosen),
        promises.check_driver(found),
        promises.check_rocm(found, request.min_rocm),
        promises.check_driver_rocm(found),
        promises.check_os(found, request.expect_os),
        promises.check_kernel(found, request.expect_kernel),
        memory.check(gpus, node.sockets, found.holders, found.holders_incomplete, recorded=here.recorded),
    ]


def _container_checks(env: RunnerEnv, here: Place, environ: Mapping[str, str], tree: Tree) -> list[Check]:
    """What belongs to this process, whatever root the GPUs are read from."""
    pattern = tree.text("proc/sys/kernel/core_pattern")
    tmpdir = limits.check_tmpdir(environ)
    return [
        limits.check_shm(here),
        limits.check_ipc(),
        limits.check_ulimits(
            here,
            limits.read_ulimits(),
            core_pattern=pattern if isinstance(pattern, str) else "",
            rdma=bool(tree.names("sys/class/infiniband") if tree.exists("sys/class/infiniband") is True else ()),
        ),
        *limits.check_space(limits.folders(environ, env.workspace)),
        *([tmpdir] if tmpdir else []),
        workspace.check(env.workspace, on_github=env.on_github, uid=os.geteuid()),
    ]


@dataclass(frozen=True)
class Job:
    """What the checks of the job's Python need."""

    request: Request
    context: StageContext
    found: Found
    gpus: tuple[Gpu, ...]
    here: Place
    environ: Mapping[str, str]
    interpreter: str | None

    def python_checks(self, *, fit: bool) -> tuple[TorchBuild, list[Check]]:
        """PyTorch as it is, then the requirements, then PyTorch as it is after them.

        Args:
            fit: nothing is wrong with the node; on a broken one nothing is installed.
        """
        if self.interpreter is None:
            missing = skip("torch", "there is no python3 in the job's PATH")
            rows = [missing, *(skip(name, "there is no interpreter") for name in torch_checks.IDS[1:])]
            if self.request.requirements:
                rows.append(fail("requirements", "there is no python3 to install them for", "name it: --python EXE"))
            return TorchBuild(), rows
        self.context.progress(f"asking PyTorch in {self.interpreter}")
        build = torch_build.probe(self.interpreter, self.context.processes, extra=self._selection())
        checks = self._torch(build)
        if self.request.requirements is None:
            return build, checks
        fit = fit and verdict(checks)[0] is Code.PASSED
        more, after = self._install(self.request.requirements, build, fit=fit)
        if after is not None and not build.present and after.present and verdict(more)[0] is Code.PASSED:
            # The requirements brought PyTorch: it is that one that the job will use.
            build = torch_build.probe(self.interpreter, self.context.processes, extra=self._selection())
            checks = self._torch(build)
        elif after is not None:
            build = replace(build, packages=after.packages, prebuilt_aiter=after.prebuilt_aiter)
        return build, [*checks, *more]

    def _selection(self) -> dict[str, str]:
        wanted = self.request.visible_devices
        return {"HIP_VISIBLE_DEVICES": wanted} if wanted else {}

    def _torch(self, build: TorchBuild) -> list[Check]:
        rows = torch_checks.checks(
            build,
            targets(self.gpus),
            len(self.gpus),
            recorded=self.here.recorded,
            asked=self.request.python is not None,
            rocm=self.found.rocm_version,
        )
        return list(rows)

    def _install(self, file: Path, before: TorchBuild, *, fit: bool) -> tuple[list[Check], TorchBuild | None]:
        """The rows about the requirements, and PyTorch after the installation; None when nothing was installed."""
        later = ("install", "torch-kept")
        protected = {name: before.packages[name] for name in requirements.TORCH_FAMILY if name in before.packages}
        try:
            wanted = requirements.load(file)
        except requirements.RequirementsError as error:
            raise UsageError(
                f"--requirements: {error}", help="check the path, which counts from the working folder"
            ) from error
        first = requirements.check(wanted, protected)
        if first.status == "fail" or not fit:
            why = "the requirements are not fit" if first.status == "fail" else "the node is not fit"
            return [first, *(skip(name, f"nothing was installed: {why}") for name in later)], None
        python = self.interpreter or "python3"
        installer = _installer(self.request.installer, python, self.environ, self.context.processes)
        if isinstance(installer, Check):
            return [first, installer, skip("torch-kept", "nothing was installed")], None
        self.context.progress(f"installing {file} with {installer.name}")
        done = install.run(installer, file, protected, self.context.processes)
        after = torch_build.probe(python, self.context.processes, light=True, limit=60)
        return [first, done, install.check_kept(before, after, self.found.rocm_version)], after


def _installer(
    wanted: str | None, python: str, environ: Mapping[str, str], processes: ProcessRegistry
) -> install.Installer | Check:
    def answers(code: str) -> bool:
        try:
            return processes.run([python, "-c", code], timeout=60, echo=False).returncode == 0
        except InfraError:
            return False

    return install.find_installer(
        wanted,
        python,
        environ.get("PATH"),
        has_pip=lambda: answers("import pip"),
        in_environment=lambda: answers("import sys; sys.exit(sys.prefix == sys.base_prefix)"),
    )
