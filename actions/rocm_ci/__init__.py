"""What runs inside a job: the checks, the gate, and what they share. See docs/architecture.md."""

__version__ = "0.1.0"
