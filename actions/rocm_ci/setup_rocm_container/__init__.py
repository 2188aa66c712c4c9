"""setup-rocm-container: is this node and container fit for ROCm work. In: options. Out: devices, driver, checks."""
