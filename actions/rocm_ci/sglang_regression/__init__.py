"""sglang-regression: latency and throughput of a served model. In: an engine and a model. Out: TTFT, ITL, verdicts."""
