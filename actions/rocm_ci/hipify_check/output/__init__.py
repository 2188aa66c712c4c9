"""One result, written for people (text, job summary, annotations) and for machines (JSON, SARIF)."""
