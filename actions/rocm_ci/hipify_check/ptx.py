"""Is a string of assembly PTX, and which instruction is it? Shared by C (``asm``) and Python (Triton).

Source of the opcodes: NVIDIA's PTX ISA 8.x, chapter 9. AMD's mnemonics carry their family as a prefix with an
underscore (``s_``, ``v_``, ``ds_`` ...), x86 has no dots, and Arm's and RISC-V's few dotted ones have no PTX type.
"""

from __future__ import annotations

import re

_OPCODES = frozenset(
    """
    abs activemask add addc alloca and applypriority atom bar barrier bfe bfi bfind bmsk bra brev brkpt
    brx call clusterlaunchcontrol clz cnot copysign cos cp createpolicy cvt cvta discard div dp2a dp4a
    elect ex2 exit fence fma fns getctarank griddepcontrol isspacep istypep ld ldmatrix ldu lg2 lop3 mad
    mad24 madc mapa match max mbarrier membar min mma mov movmatrix mul mul24 multimem nanosleep neg not
    or pmevent popc prefetch prefetchu prmt rcp red redux rem ret rsqrt sad selp set setmaxnreg setp shf
    shfl shl shr sin slct sqrt st stackrestore stacksave stmatrix sub subc suld suq sured sust szext tanh
    tcgen05 tensormap testp tex tld4 trap txq vabsdiff vadd vmad vmax vmin vote vset vshl vshr vsub wgmma
    wmma xor
    """.split()  # noqa: SIM905 - a list of 120 quoted words is harder to read
)
_SUFFIXES = frozenset(
    """
    u8 u16 u32 u64 s8 s16 s32 s64 b1 b8 b16 b32 b64 b128 f16 f16x2 f32 f32x2 f64 bf16 bf16x2 tf32 e4m3x2
    e5m2x2 pred s16x2 u16x2 sync aligned async shared global local const param cta gpu sys gl cluster
    wait launch_dependents relaxed acquire release acq_rel sc volatile weak arrive init test_wait
    try_wait uni L2 L1 to cvta rn rz cg ca bulk commit_group wait_group wait_all mma_async fence commit
    alloc dealloc ld st cp inval expect_tx proxy l v2 v4 approx lo hi wide ballot any all idx up down
    bfly inc dec
    """.split()  # noqa: SIM905
)
# What AMD has nothing for: no builtin and no short sequence does the same.
_NO_COUNTERPART = (
    "cp.async", "cp.reduce", "mma.", "wgmma", "wmma", "ldmatrix", "stmatrix", "movmatrix", "mbarrier", "tcgen05",
    "clusterlaunchcontrol", "barrier.cluster", "mapa", "getctarank", "griddepcontrol", "setmaxnreg", "multimem",
    "tensormap", "elect", "fence.proxy", "createpolicy", "applypriority", "discard", "prefetch.tensormap", "redux",
)  # fmt: skip

_STATEMENT = re.compile(
    r"(?:^|[;{}\n])\s*(?:@!?%?[\w%]+\s+)?(?P<op>[a-z][a-z0-9]*(?:(?:\.|::)[A-Za-z0-9_]+)*)(?=[\s;]|$)"
)
_DIRECTIVE = re.compile(r"(?:^|[;{}\n])\s*(?P<op>\.reg)\s+\.\w+")
_BARE = frozenset({"trap", "exit", "brkpt", "ret"})
_REGISTER = re.compile(
    r"%%?(?:laneid|warpid|smid|nsmid|ctaid|nctaid|tid|ntid|clock64|clock_hi|clock|globaltimer|gridid|lanemask_\w+|cluster_ctaid|dynamic_smem_size|pm\d)\b"
)


def instruction(assembly: str) -> tuple[str, int] | None:
    """The first PTX instruction of an assembly text and its index in it; ``None`` where the text is not PTX."""
    directive = _DIRECTIVE.search(assembly)
    for match in _STATEMENT.finditer(assembly):
        name = match["op"]
        parts = re.split(r"\.|::", name)
        dotted = len(parts) > 1 and any(part in _SUFFIXES for part in parts[1:])
        bare = name in _BARE and assembly[match.end() :].lstrip()[:1] == ";" and assembly.strip() == f"{name};"
        if parts[0] in _OPCODES and (dotted or bare):
            return name, match.start("op")
    if directive is not None:
        return ".reg", directive.start("op")
    register = _REGISTER.search(assembly)
    return (register[0].lstrip("%"), register.start()) if register else None


def has_counterpart(name: str) -> bool:
    """Can the instruction be written with a HIP builtin or a few lines of HIP?"""
    return not name.startswith(_NO_COUNTERPART)
