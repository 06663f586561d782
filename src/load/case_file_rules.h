#pragma once

#include "src/spec/finding.h"

/// What can be wrong with a case file: the rules of the codes FC-Cnnn. Each message has {where} (a
/// JSON pointer, or "the document", "the file", "the path"), {expected} and {got}.
namespace flashcheck::complaint {

extern const Rule kCannotRead;
extern const Rule kFileTooLarge;
extern const Rule kNotJson;
extern const Rule kTooDeep;
extern const Rule kTooLarge;
extern const Rule kDoubledKey;
extern const Rule kUnknownKey;
extern const Rule kMissingKey;
extern const Rule kWrongType;
extern const Rule kWrongForm;
extern const Rule kNotInteger;
extern const Rule kNumberOutOfRange;
extern const Rule kUnknownWord;
extern const Rule kWrongSchema;
extern const Rule kUnknownFunction;
extern const Rule kNotTaken;
extern const Rule kMissingArgument;
extern const Rule kStridesDoNotFit;
extern const Rule kSizeOverflows;
extern const Rule kWrongNumberOfValues;
extern const Rule kValueOutOfRange;
extern const Rule kContradiction;
extern const Rule kUnknownStorage;
extern const Rule kBadId;
extern const Rule kDoubledId;
extern const Rule kValueFileUnreadable;
extern const Rule kBrokenSafetensors;
extern const Rule kBrokenNpy;
extern const Rule kValueFileDiffers;
extern const Rule kNoCases;
extern const Rule kTooManyComplaints;
extern const Rule kOutOfMemory;
extern const Rule kLayoutIsNoView;
extern const Rule kBrokenPageTable;

}  // namespace flashcheck::complaint
