#include "src/inputs/input_rules.h"

#include <array>

namespace flashcheck {

const Rule kNotEnoughMemory{
    .code = "FC-X001",
    .name = "not-enough-memory",
    .message = "{storage}: this machine does not give {bytes} bytes for the storage",
    .why = "A case is run on real storages of the declared size, and the system refused one.",
    .fix = "Declare a smaller storage, or only check the call without running it.",
    .source = "src/inputs/inputs.cpp"};

const Rule kFileUnreadable{
    .code = "FC-X002",
    .name = "values-file-unreadable",
    .message = "{path}: cannot be read any more: {reason}",
    .why =
        "The file was there when the case was loaded; its elements are read only when the case "
        "runs.",
    .fix = "Leave the files of a case alone while it runs.",
    .source = "src/inputs/file_values.cpp"};

const Rule kFileTruncated{
    .code = "FC-X003",
    .name = "values-file-truncated",
    .message =
        "{path}: {tensor} needs {needed} bytes from byte {begin} on, and only {found} are "
        "there",
    .why = "The file became shorter after the case was loaded, or it is still being written.",
    .fix = "Write the file completely, then run the case.",
    .source = "src/inputs/file_values.cpp"};

const Rule kValueDoesNotFit{
    .code = "FC-X004",
    .name = "filled-value-does-not-fit-dtype",
    .message = "{tensor}: element {index} is {value}, which {dtype} cannot hold",
    .why =
        "A finite value that turns into infinity, or a fraction in an integer tensor, would "
        "make the case say something else than its file does.",
    .fix = "Choose values inside the dtype's range (f16 ends at 65504), or another dtype.",
    .source = "src/inputs/inputs.cpp"};

const Rule kTooManyElements{
    .code = "FC-X005",
    .name = "too-many-elements",
    .message = "{tensor}: {elements} elements are more than the {limit} that are filled in",
    .why =
        "Overlapping strides can claim far more elements than their storage holds, and writing "
        "each of them would take hours.",
    .fix = "Use a smaller shape; expanded dims (stride 0) cost nothing.",
    .source = "src/inputs/inputs.cpp"};

std::span<const Rule* const> input_rules() {
  static constexpr std::array<const Rule*, 5> kRules{
      &kNotEnoughMemory, &kFileUnreadable, &kFileTruncated, &kValueDoesNotFit, &kTooManyElements};
  return kRules;
}

}  // namespace flashcheck
