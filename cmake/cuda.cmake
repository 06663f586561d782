# What FLASHCHECK_CUDA needs: a toolkit, and no GPU.
set(FLASHCHECK_CUDA_ARCHITECTURES "" CACHE STRING
    "Compute capabilities; empty: code for six, and PTX for those between and after")
set(CMAKE_CUDA_ARCHITECTURES 80 86-real 89-real 90-real 100-real 120)
if(FLASHCHECK_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES ${FLASHCHECK_CUDA_ARCHITECTURES})
endif()

find_program(CMAKE_CUDA_COMPILER nvcc HINTS ENV CUDACXX ENV CUDA_HOME ENV CUDA_PATH
             PATHS /usr/local/cuda PATH_SUFFIXES bin)
if(NOT CMAKE_CUDA_COMPILER)
  message(FATAL_ERROR "FLASHCHECK_CUDA is ON, but there is no nvcc: install the CUDA toolkit, name "
                      "its nvcc with -DCMAKE_CUDA_COMPILER=PATH, or configure with the preset "
                      "release, which builds the CPU kernel alone.")
endif()
if(CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
endif()
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25.1 does not know that nvcc takes it
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
find_package(CUDAToolkit 12.8 REQUIRED)  # which knows compute capability 12.0

# cuBLAS is loaded when it is first asked for: from where the toolkit is, else from the system's.
set(CMAKE_BUILD_RPATH ${CUDAToolkit_LIBRARY_DIR})
set(CMAKE_INSTALL_RPATH ${CUDAToolkit_LIBRARY_DIR})
