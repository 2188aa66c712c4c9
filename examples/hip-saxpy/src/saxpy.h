#pragma once

// Returns 0 when y = a * x + y was computed on the GPU.
extern "C" int saxpy(int n, float a, const float* x, float* y);
