"""What runs inside a job: the five checks and what they share. See DESIGN in docs/architecture.md."""
