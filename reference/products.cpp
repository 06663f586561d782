#include "reference/products.h"

#include <stdexcept>

#ifdef FLASHCHECK_CUDA
#include "reference/gemm_cublas.h"
#endif

namespace flashcheck {

std::string products_unavailable(std::string_view kind, [[maybe_unused]] int device) {
  if (kind == "cpu") return "";
#ifdef FLASHCHECK_CUDA
  if (kind == "cuda") return cublas_unavailable(device);
#endif
  return "this build has no reference for " + std::string(kind);
}

const Products& products_of(std::string_view kind, [[maybe_unused]] int device) {
  if (kind == "cpu") return blas_products();
#ifdef FLASHCHECK_CUDA
  if (kind == "cuda") return cublas_products(device);
#endif
  throw std::logic_error(products_unavailable(kind, device));
}

}  // namespace flashcheck
