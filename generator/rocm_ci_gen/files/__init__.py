"""The generated files of a repository: written whole, compared with what is committed, removed when not wanted.

In: the repository's root and the wanted files, path → text. Nothing outside the root is touched, no symbolic link is
followed, and a file that does not carry our header is neither overwritten (without force) nor deleted (ever).
"""

from __future__ import annotations

from rocm_ci_gen.files.drift import FileDiff, drift
from rocm_ci_gen.files.generated import LIST_PATH
from rocm_ci_gen.files.paths import repository_root
from rocm_ci_gen.files.write import Changes, write_generated

__all__ = ["LIST_PATH", "Changes", "FileDiff", "drift", "repository_root", "write_generated"]
