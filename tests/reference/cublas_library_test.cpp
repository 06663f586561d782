#include "reference/cublas_library.h"

#include <doctest/doctest.h>

#include <string>

// Whether it can multiply here is a device's affair; that it is found is not.
TEST_CASE("the toolkit's cuBLAS is loaded, with every function that the reference calls") {
  const flashcheck::CublasLibrary& library = flashcheck::cublas_library();
  CHECK(library.error == "");
  REQUIRE((library.create != nullptr));
  REQUIRE((library.set_math_mode != nullptr));
  REQUIRE((library.dgemm != nullptr));
  REQUIRE((library.gemm_ex != nullptr));
  REQUIRE((library.status_string != nullptr));
  CHECK(std::string(library.status_string(CUBLAS_STATUS_SUCCESS)).size() > 0);
}
