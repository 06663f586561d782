# The system's package where there is one that is new enough, else a pinned and hashed source.
include(FetchContent)

option(FLASHCHECK_FETCH "Fetch the C++ libraries even where the system has them" OFF)
if(FLASHCHECK_FETCH)
  set(FETCHCONTENT_TRY_FIND_PACKAGE_MODE NEVER)
endif()

# Releases that GCC 12, Clang 14 and CMake 3.25 take, and CMake 4 with the policy below.
FetchContent_Declare(CLI11 SYSTEM
  URL https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.4.2.tar.gz
  URL_HASH SHA256=f2d893a65c3b1324c50d4e682c0cdc021dd0477ae2c048544f39eed6654b699a
  DOWNLOAD_EXTRACT_TIMESTAMP TRUE
  FIND_PACKAGE_ARGS 2.1)
FetchContent_Declare(doctest SYSTEM
  URL https://github.com/doctest/doctest/archive/refs/tags/v2.4.11.tar.gz
  URL_HASH SHA256=632ed2c05a7f53fa961381497bf8069093f0d6628c5f26286161fbd32a560186
  DOWNLOAD_EXTRACT_TIMESTAMP TRUE
  FIND_PACKAGE_ARGS 2.4)
FetchContent_Declare(fmt SYSTEM
  URL https://github.com/fmtlib/fmt/archive/refs/tags/10.2.1.tar.gz
  URL_HASH SHA256=1250e4cc58bf06ee631567523f48848dc4596133e163f02615c97f78bab6c811
  DOWNLOAD_EXTRACT_TIMESTAMP TRUE
  FIND_PACKAGE_ARGS 9)
FetchContent_Declare(nlohmann_json SYSTEM
  URL https://github.com/nlohmann/json/releases/download/v3.11.3/json.tar.xz
  URL_HASH SHA256=d6c65aca6b1ed68e7a182f4757257b107ae403032760ed6ef121c9d55e81757d
  DOWNLOAD_EXTRACT_TIMESTAMP TRUE
  FIND_PACKAGE_ARGS 3.11)

# Of a fetched library only its targets are wanted: no tests, no install rules.
set(CLI11_INSTALL OFF CACHE INTERNAL "")
set(DOCTEST_NO_INSTALL ON CACHE INTERNAL "")
set(DOCTEST_WITH_TESTS OFF CACHE INTERNAL "")
set(FMT_INSTALL OFF CACHE INTERNAL "")
set(CMAKE_POLICY_VERSION_MINIMUM 3.5)  # doctest 2.4.11 asks for less than CMake 4 still offers

FetchContent_MakeAvailable(CLI11 fmt nlohmann_json)
if(FLASHCHECK_TESTS)
  FetchContent_MakeAvailable(doctest)
  if(doctest_SOURCE_DIR)
    list(APPEND CMAKE_MODULE_PATH ${doctest_SOURCE_DIR}/scripts/cmake)
  endif()
endif()
unset(CMAKE_POLICY_VERSION_MINIMUM)

find_package(Threads REQUIRED)

# The reference multiplies through CBLAS, which some systems keep in a folder of its own.
find_package(BLAS QUIET)
find_path(FLASHCHECK_CBLAS_DIR cblas.h PATH_SUFFIXES openblas)
if(NOT BLAS_FOUND OR NOT FLASHCHECK_CBLAS_DIR)
  message(FATAL_ERROR "No BLAS with cblas.h was found: install OpenBLAS "
                      "(Debian and Ubuntu: libopenblas-dev).")
endif()
target_include_directories(BLAS::BLAS INTERFACE ${FLASHCHECK_CBLAS_DIR})
