"""vram-probe: GPU memory while a command runs. In: a command. Out: peak, leak, and who holds memory."""
