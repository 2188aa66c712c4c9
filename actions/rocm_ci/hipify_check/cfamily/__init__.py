"""C, C++, CUDA and HIP sources: bytes in, hits out. ``scan.scan`` is the door."""
