#include "reference/cublas_library.h"

#include <dlfcn.h>

namespace flashcheck {
namespace {

#define FLASHCHECK_QUOTED(text) #text
#define FLASHCHECK_VALUE_QUOTED(macro) FLASHCHECK_QUOTED(macro)
constexpr const char* kFile = "libcublas.so." FLASHCHECK_VALUE_QUOTED(CUBLAS_VER_MAJOR);

/// Sets `function` to the library's of that name; leaves the error of the first that is missing.
template <typename Function>
void find(void* library, const char* name, Function& function, std::string& error) {
  void* const found = dlsym(library, name);
  if (!found && error.empty()) error = std::string(kFile) + " has no " + name;
  function = reinterpret_cast<Function>(found);
}

CublasLibrary load() {
  CublasLibrary cublas;
  void* const library = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    cublas.error = std::string("the reference needs cuBLAS: ") + dlerror() +
                   "; it is in the CUDA toolkit, and LD_LIBRARY_PATH may name its folder";
    return cublas;
  }
  std::string error;
  find(library, "cublasCreate_v2", cublas.create, error);
  find(library, "cublasSetMathMode", cublas.set_math_mode, error);
  find(library, "cublasDgemm_v2", cublas.dgemm, error);
  find(library, "cublasGemmEx", cublas.gemm_ex, error);
  find(library, "cublasGetStatusString", cublas.status_string, error);
  return error.empty() ? cublas : CublasLibrary{.error = error};
}

}  // namespace

const CublasLibrary& cublas_library() {
  static const CublasLibrary library = load();
  return library;
}

}  // namespace flashcheck
