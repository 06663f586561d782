#include "src/load/case_file_rules.h"

#include <array>

#include "src/load/load.h"

namespace flashcheck {
namespace complaint {
namespace {

constexpr std::string_view kMessage = "{where}: expected {expected}, got {got}";
constexpr std::string_view kMessageWithNearest =
    "{where}: expected {expected}, got {got}; the nearest is {nearest}";
constexpr std::string_view kSource = "docs/case-format.md";

}  // namespace

const Rule kCannotRead{
    .code = "FC-C001",
    .name = "cannot-read-file",
    .message = kMessage,
    .why =
        "The path names nothing, a directory where a file belongs, or something this "
        "user may not read.",
    .fix =
        "Check the spelling and the permissions. A directory is searched for .json and "
        ".jsonl files.",
    .source = kSource};

const Rule kFileTooLarge{
    .code = "FC-C002",
    .name = "file-too-large",
    .message = kMessage,
    .why =
        "A case file is read into memory whole, so its size is limited. Calls are "
        "described in kilobytes; what makes a file large is written-out elements.",
    .fix =
        "Keep large tensors beside the case in a .safetensors or .npy file and name it "
        "with `file`.",
    .source = kSource};

const Rule kNotJson{
    .code = "FC-C003",
    .name = "not-json",
    .message = kMessage,
    .why =
        "A case file is JSON (RFC 8259) in UTF-8: no comments, no trailing commas, no "
        "single quotes, no NaN. A .jsonl file has one document a line.",
    .fix =
        "Correct the text at this line. Numbers that JSON does not have are written as "
        "the strings \"nan\", \"inf\" and \"-inf\".",
    .source = kSource};

const Rule kTooDeep{
    .code = "FC-C004",
    .name = "nested-too-deeply",
    .message = kMessage,
    .why =
        "No case needs more than a few levels. The limit keeps a hostile file from "
        "exhausting the reader.",
    .fix = "Flatten the document; `values` may be written flat, in row-major order.",
    .source = kSource};

const Rule kTooLarge{
    .code = "FC-C005",
    .name = "document-too-large",
    .message = kMessage,
    .why = "The limit keeps a hostile file from exhausting memory.",
    .fix =
        "Keep large tensors in a .safetensors or .npy file and name it with `file`; "
        "split the cases over several files.",
    .source = kSource};

const Rule kDoubledKey{
    .code = "FC-C006",
    .name = "doubled-key",
    .message = kMessage,
    .why =
        "JSON readers disagree about which of two equal keys counts, so the file would "
        "mean different things to different tools.",
    .fix = "Remove one of the two.",
    .source = kSource};

const Rule kUnknownKey{.code = "FC-C007",
                       .name = "unknown-key",
                       .message = kMessageWithNearest,
                       .why = "A misspelt key that was ignored would silently test something else.",
                       .fix = "Correct the spelling, or remove the key.",
                       .source = kSource};

const Rule kMissingKey{.code = "FC-C008",
                       .name = "missing-key",
                       .message = kMessage,
                       .why = "The format has no default for this key.",
                       .fix = "Add the key; docs/case-format.md describes it.",
                       .source = kSource};

const Rule kWrongType{.code = "FC-C009",
                      .name = "wrong-type",
                      .message = kMessage,
                      .why = "Values are never converted from one JSON type to another.",
                      .fix = "Write the value in the type that is expected.",
                      .source = kSource};

const Rule kWrongForm{.code = "FC-C010",
                      .name = "wrong-form",
                      .message = kMessage,
                      .why = "The string has a form of its own that tools rely on.",
                      .fix = "Write it as the message says.",
                      .source = kSource};

const Rule kNotInteger{
    .code = "FC-C011",
    .name = "not-an-integer",
    .message = kMessage,
    .why =
        "Shapes, strides, offsets, lengths and windows are Rust's `usize` in the call: "
        "whole and not negative. 2.7, 1e3 and 1.0 are not whole numbers in JSON's "
        "spelling, and are never rounded.",
    .fix = "Write a whole number in the range.",
    .source = kSource};

const Rule kNumberOutOfRange{
    .code = "FC-C012",
    .name = "number-out-of-range",
    .message = kMessage,
    .why = "The number would silently become infinity or zero.",
    .fix =
        "Write a number that the type holds, or \"inf\", \"-inf\" or \"nan\" if that is "
        "meant.",
    .source = kSource};

const Rule kUnknownWord{.code = "FC-C013",
                        .name = "unknown-word",
                        .message = kMessageWithNearest,
                        .why = "The value is one of a fixed set of words.",
                        .fix = "Use one of the words listed.",
                        .source = kSource};

const Rule kWrongSchema{
    .code = "FC-C014",
    .name = "wrong-schema",
    .message = kMessage,
    .why = "`schema` is the version of the format. This program reads version 1.",
    .fix = "Write \"schema\": 1.",
    .source = kSource};

const Rule kUnknownFunction{
    .code = "FC-C015",
    .name = "unknown-function",
    .message = kMessageWithNearest,
    .why = "The wrapper has no public function of that name.",
    .fix = "Use one of the functions listed; they are spelt as in the wrapper's source.",
    .source = kSource};

const Rule kNotTaken{
    .code = "FC-C016",
    .name = "not-taken-by-the-function",
    .message = kMessage,
    .why =
        "The call could not be written in Rust: the function has no such argument. "
        "Ignoring it would test another call than the one meant.",
    .fix =
        "Remove it, or name the function that takes it. In a test's `change`, null "
        "removes what the control has.",
    .source = kSource};

const Rule kMissingArgument{
    .code = "FC-C017",
    .name = "missing-argument",
    .message = kMessage,
    .why = "The function requires this argument; it is no `Option` in Rust.",
    .fix = "Add it.",
    .source = kSource};

const Rule kStridesDoNotFit{
    .code = "FC-C018",
    .name = "strides-do-not-match-shape",
    .message = kMessage,
    .why = "A candle Layout has one stride a dimension, so this tensor cannot exist.",
    .fix =
        "Give one stride for each dim of `shape`, or leave `strides` out for row-major "
        "ones.",
    .source = kSource};

const Rule kSizeOverflows{
    .code = "FC-C019",
    .name = "size-overflows",
    .message = kMessage,
    .why =
        "Sizes are counted in 64-bit integers, and no allocation is larger than 2^63 - "
        "1 bytes.",
    .fix = "Make the dims, strides or the offset smaller.",
    .source = kSource};

const Rule kWrongNumberOfValues{
    .code = "FC-C020",
    .name = "wrong-number-of-values",
    .message = kMessage,
    .why =
        "`values` holds exactly the elements of the tensor, nested as its shape or "
        "flat in row-major order; `axes` names each dim.",
    .fix = "Add or remove some, or correct `shape`.",
    .source = kSource};

const Rule kValueOutOfRange{
    .code = "FC-C021",
    .name = "value-does-not-fit-dtype",
    .message = kMessage,
    .why = "The element would silently become another number.",
    .fix = "Write an element that the dtype holds, or choose another dtype.",
    .source = kSource};

const Rule kContradiction{.code = "FC-C022",
                          .name = "contradiction",
                          .message = kMessage,
                          .why = "The two cannot hold together.",
                          .fix = "Keep one of them.",
                          .source = kSource};

const Rule kUnknownStorage{
    .code = "FC-C023",
    .name = "unknown-storage",
    .message = kMessage,
    .why = "A tensor views a storage that `storages` does not declare.",
    .fix =
        "Declare it in `storages`, or give a number of elements for a storage of the "
        "tensor's own.",
    .source = kSource};

const Rule kBadId{.code = "FC-C024",
                  .name = "bad-id",
                  .message = kMessage,
                  .why =
                      "Ids select tests on a command line and stand in reports, so they are plain "
                      "words.",
                  .fix = "Use letters, digits, '.', '_' and '-'.",
                  .source = kSource};

const Rule kDoubledId{.code = "FC-C025",
                      .name = "doubled-id",
                      .message = kMessage,
                      .why = "Two tests of one id could not be told apart.",
                      .fix = "Give each test its own id.",
                      .source = kSource};

const Rule kValueFileUnreadable{
    .code = "FC-C026",
    .name = "cannot-read-value-file",
    .message = kMessage,
    .why =
        "The file that holds a tensor's elements is missing, is no regular file, or "
        "may not be read. Its path is relative to the case file.",
    .fix = "Check the path and the permissions.",
    .source = kSource};

const Rule kBrokenSafetensors{
    .code = "FC-C027",
    .name = "broken-safetensors",
    .message = kMessage,
    .why =
        "The header contradicts the format or the file's size, so the elements cannot "
        "be trusted.",
    .fix = "Save the file again.",
    .source = kSource};

const Rule kBrokenNpy{
    .code = "FC-C028",
    .name = "broken-npy",
    .message = kMessage,
    .why =
        "The header is not one that numpy's save writes for a plain, little-endian, "
        "C-ordered array, or it contradicts the file's size.",
    .fix = "Save the array again, as numpy.save(path, numpy.ascontiguousarray(array)).",
    .source = kSource};

const Rule kValueFileDiffers{
    .code = "FC-C029",
    .name = "value-file-differs",
    .message = kMessage,
    .why = "The case and the file disagree about the tensor.",
    .fix = "Correct the case, or leave `dtype` and `shape` out and take the file's.",
    .source = kSource};

const Rule kNoCases{.code = "FC-C030",
                    .name = "no-cases",
                    .message = kMessage,
                    .why = "A run over nothing proves nothing.",
                    .fix = "Add a case.",
                    .source = kSource};

const Rule kTooManyComplaints{
    .code = "FC-C031",
    .name = "too-many-complaints",
    .message = kMessage,
    .why =
        "One mistake often makes many complaints; after the first ones only their "
        "number is told.",
    .fix = "Correct the complaints above first.",
    .source = kSource};

const Rule kOutOfMemory{
    .code = "FC-C032",
    .name = "out-of-memory",
    .message = kMessage,
    .why = "Reading the file needs more memory than there is.",
    .fix = "Split the file, or keep large tensors in a .safetensors or .npy file.",
    .source = kSource};

const Rule kLayoutIsNoView{
    .code = "FC-C033",
    .name = "layout-is-no-view",
    .message = kMessage,
    .why =
        "Wrappers take k and v as (page, token, head, dim) with strides, and demand that the last "
        "stride is 1. A layout that splits an axis in two, or keeps the dims of a token apart, is "
        "no such view: its engine has kernels of its own.",
    .fix = "Copy the tensor by the permutation that the message names, and describe the copy.",
    .source = "`flashcheck layouts`"};

const Rule kBrokenPageTable{
    .code = "FC-C034",
    .name = "broken-page-table",
    .message = kMessage,
    .why =
        "The parts of the page table contradict each other, or its slots do not make up pages, so "
        "that no block table says the same.",
    .fix = "Correct the form. Slots that are not side by side need pages of 1.",
    .source = kSource};

}  // namespace complaint

std::span<const Rule* const> case_file_rules() {
  using namespace complaint;
  static constexpr std::array<const Rule*, 34> kRules{&kCannotRead,        &kFileTooLarge,
                                                      &kNotJson,           &kTooDeep,
                                                      &kTooLarge,          &kDoubledKey,
                                                      &kUnknownKey,        &kMissingKey,
                                                      &kWrongType,         &kWrongForm,
                                                      &kNotInteger,        &kNumberOutOfRange,
                                                      &kUnknownWord,       &kWrongSchema,
                                                      &kUnknownFunction,   &kNotTaken,
                                                      &kMissingArgument,   &kStridesDoNotFit,
                                                      &kSizeOverflows,     &kWrongNumberOfValues,
                                                      &kValueOutOfRange,   &kContradiction,
                                                      &kUnknownStorage,    &kBadId,
                                                      &kDoubledId,         &kValueFileUnreadable,
                                                      &kBrokenSafetensors, &kBrokenNpy,
                                                      &kValueFileDiffers,  &kNoCases,
                                                      &kTooManyComplaints, &kOutOfMemory,
                                                      &kLayoutIsNoView,    &kBrokenPageTable};
  return kRules;
}

}  // namespace flashcheck
