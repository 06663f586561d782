#!/usr/bin/env bash
# Reads the machine code of the CUDA kernel, of every architecture that it was built for:
#   - each forward kernel multiplies with the tensor cores (HMMA, f32 sums), loads fragments four
#     matrices at a time, also transposed (LDSM), and copies 16 bytes at a time past the registers
#     and the L1 (LDGSTS.BYPASS.128);
#   - the instances of the head dims 64, 128 and 256 use no local memory (LDL, STL): nothing spills.
# usage: disassembly_test.sh OBJECT_OR_LIBRARY
# cuobjdump, and the nvdisasm that it calls, are looked for in $CUDA_BIN and in the PATH.
set -euo pipefail
readonly skipped=77

PATH=$PATH${CUDA_BIN:+:$CUDA_BIN}
for tool in cuobjdump nvdisasm; do
  if ! command -v "$tool" >/dev/null; then
    echo "skipped: there is no $tool here" >&2
    exit $skipped
  fi
done

cuobjdump -sass "$1" | awk '
  function fault(text) {
    print arch, kernel ": " text
    num_faults++
  }
  function demand(instruction) {
    if (!((kernel, instruction) in count)) fault("has no " instruction)
  }
  # A kernel is flash_forward<T, index>; the name is mangled: ...INS_4HalfELi0EE...
  function finish() {
    if (kernel == "") return
    num_kernels++
    demand(kernel ~ /BFloat16/ ? "HMMA.16816.F32.BF16" : "HMMA.16816.F32")
    demand("LDSM.16.M88.4")
    demand("LDSM.16.MT88.4")
    demand("LDGSTS.E.BYPASS.128")
    index_in_table = kernel
    gsub(/.*, |>/, "", index_in_table)
    if (index_in_table < 6 && local_accesses > 0) {
      fault("has " local_accesses " accesses to local memory")
    }
    kernel = ""
  }
  /^arch = / {
    finish()
    arch = $3
  }
  /Function : / {
    finish()
    split("", count)
    local_accesses = 0
    if (match($3, /flash_forwardINS_[0-9]+[A-Za-z0-9]+ELi[0-9]+E/)) {
      kernel = substr($3, RSTART, RLENGTH)
      sub(/INS_[0-9]+/, "<flashcheck::", kernel)
      sub(/ELi/, ", ", kernel)
      sub(/E$/, ">", kernel)
      kernels_of[arch]++
    }
  }
  kernel != "" && match($0, /(HMMA|LDSM|LDGSTS|LDL|STL)[A-Z0-9.]*/) {
    instruction = substr($0, RSTART, RLENGTH)
    count[kernel, instruction]++
    if (instruction ~ /^(LDL|STL)/) local_accesses++
  }
  END {
    finish()
    for (name in kernels_of) {
      print name ": " kernels_of[name] " forward kernels"
      if (kernels_of[name] != 16) fault(name " has not 16 forward kernels: 8 tile shapes, 2 dtypes")
    }
    if (num_kernels == 0) fault("there is no forward kernel in it")
    exit num_faults > 0
  }'
