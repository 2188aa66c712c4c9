"""Compile the translation units of a tree with the real hipcc, to object files that are thrown away.

In: the files of ``engine.check`` or of a conversion, and the gfx targets. Out: for each unit ``ok``, ``failed``,
``not-judged`` (what is missing is missing here, not in the code) or ``timeout``, with the first error and its cause.
Always ``-c``: only the assembler sees that an ``asm`` statement holds PTX, so ``-fsyntax-only`` would pass it.

Which files: ``.cu`` and ``.hip``, and C or C++ files in which live code uses HIP or CUDA; not headers, and not a file
that another one includes. How: the entry of ``compile_commands.json`` where there is one; else the folders of the
project in which its own ``#include`` names are found, and the ``-std`` and ``-D`` of the nearest build file
(``gnu++17`` where none says).

``run`` is the door.
"""

from rocm_ci.hipify_check.compile.job import run
from rocm_ci.hipify_check.compile.model import CompileRequest, CompileResult, UnitResult

__all__ = ["CompileRequest", "CompileResult", "UnitResult", "run"]
