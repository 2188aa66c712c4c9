"""GitHub's filter patterns: what is valid, and which pattern of a list decides about a name.

In: lists of patterns and the names of branches, tags or changed files. Out: a decision with the pattern that made it,
in time linear in the name. `manifest` asks what is valid, `plan` asks what matches.
"""

from rocm_ci_gen.filter_patterns.patterns import (
    Decision,
    Pattern,
    PatternError,
    PatternLists,
    Verdict,
    check,
    decide,
    parse,
)

__all__ = ["Decision", "Pattern", "PatternError", "PatternLists", "Verdict", "check", "decide", "parse"]
