"""What vram-probe writes: for people (text, Markdown, SVG, HTML) and for machines (report, Prometheus)."""
