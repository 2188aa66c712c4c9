"""Convert a source tree from CUDA to HIP, exactly where the check says ``convertible``.

In: paths, the ROCm release, and a folder that does not exist yet (or ``in_place``). Out: the same tree with HIP names
in its C, C++, CUDA and HIP sources, and for each file what was converted and what is left for a person. Comments,
strings and branches that AMD never compiles stay as they are, byte for byte; so do the names of the files, because
the build and the project's own ``#include`` lines know them. Build files, scripts and Python are copied: half a
converted build system is worse than none, and their findings are in the report.

``run`` is the door.
"""

from rocm_ci.hipify_check.convert.job import run
from rocm_ci.hipify_check.convert.model import ConvertRequest, ConvertResult, FileConversion

__all__ = ["ConvertRequest", "ConvertResult", "FileConversion", "run"]
