"""kernel-tests: the user's kernel tests and benchmarks on each GPU. In: test paths. Out: counts, ratios, verdicts."""
