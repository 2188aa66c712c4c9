"""Find what is still CUDA in a source tree that is meant for ROCm.

In: paths (C, C++, CUDA and HIP sources, Python, CMake, build and packaging files) and the ROCm release to hold
them against. Out: one finding a place (``model.Finding``), a verdict for each (convertible, manual, unsupported,
note), and the share that can be converted mechanically. ``engine.check`` is the door; ``command`` is its CLI.
"""
