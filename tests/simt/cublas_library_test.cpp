// Built with a release number that no cuBLAS has.

#include "reference/cublas_library.h"

#include <doctest/doctest.h>

TEST_CASE("a cuBLAS that is not there is told with its file, why, and what to do") {
  const flashcheck::CublasLibrary& library = flashcheck::cublas_library();
  CHECK(
      library.error ==
      "the reference needs cuBLAS: libcublas.so.999: cannot open shared object file: No such file "
      "or directory; it is in the CUDA toolkit, and LD_LIBRARY_PATH may name its folder");
  CHECK((library.create == nullptr));
  CHECK((library.dgemm == nullptr));
  CHECK((library.gemm_ex == nullptr));
  CHECK((library.status_string == nullptr));
}
