#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reference/visible_keys.h"
#include "src/spec/byte_runs.h"
#include "src/spec/case.h"
#include "src/spec/launch_params.h"
#include "src/spec/tensor.h"

namespace flashcheck {

/// Where positions of a sequence are kept.
enum class PlaceKind : uint8_t {
  kRows,         // rows of a page, of a batch entry, or of flat k and v
  kNoSuchRows,   // flat: past the last row of k
  kNoSuchPage,   // the table names a page that the pool does not have, or k has fewer batch entries
  kPastTable,    // the table's row has ended, or there is no such row
  kUnknownPage,  // the table's values are not known
};

/// Neighbouring positions of a sequence that are kept together and that are all seen, or all not.
struct Piece {
  KeyRange positions;
  PlaceKind kind = PlaceKind::kRows;
  int64_t page = 0;              // paged: as the table has it; fixed-length: the batch entry
  int64_t row = 0;               // the first one: within the page or batch entry, or of flat k
  bool is_seen = true;           // by some query row
  bool is_shared = false;        // another place of the table names the page too
  std::optional<ByteRuns> k, v;  // nothing: no such place, or the tensor's rank leaves it open
  /// Pages that the kernel reads in this place, where that differs from what is declared: one for
  /// an entry of the table, several for what is past its end. Of an accepted call alone.
  std::vector<int64_t> kernel_pages;
};

/// What one query row sees.
struct RowView {
  int64_t row = 0;
  std::vector<KeyRange> keys;  // ascending, apart
};

struct MappedSequence {
  int64_t number = 0, seqlen_q = 0, seqlen_k = 0;
  std::vector<Piece> pieces;    // in order of position
  int64_t num_more_pieces = 0;  // beyond the limit
  KeyRange unused_rows;         // paged: of the page that the last position is in
  /// The kernel looks at no key from here on: max_seqlen_k is too small.
  std::optional<int64_t> kernel_stops_at;
  std::vector<RowView> rows;  // all query rows, or the first, last and those at tile boundaries
};

/// A page that several places of the table name.
struct SharedPage {
  int64_t page = 0;
  std::vector<int64_t> sequences;  // ascending; one alone: its row names the page twice
  int64_t num_more_sequences = 0;  // beyond the limit
};

/// One tensor in a storage.
struct StorageView {
  TensorName tensor = TensorName::kQ;
  std::optional<ByteRuns> bytes;  // nothing: does not fit an int64
  bool leaves_storage = false;
};

/// A storage with several tensors, or with one that does not fit in it.
struct MappedStorage {
  std::string name;
  int64_t size_bytes = 0;
  std::vector<StorageView> views;  // in order of TensorName
  struct Pair {
    TensorName a, b;
    Sharing sharing;
  };
  std::vector<Pair> pairs;  // of all views
};

/// Which positions live where, who shares what, and which keys each query row sees.
struct KvMap {
  bool is_paged = false, is_varlen = false;
  int64_t page_block_size = 0;        // rows of a page; 0 unless paged
  std::optional<int64_t> num_blocks;  // pages, or batch entries, of k; nothing: k is neither
  int64_t num_rows = 0;               // flat k
  bool has_one_storage = false;       // k and v are in the same storage
  std::optional<int64_t> k_storage_bytes, v_storage_bytes;  // nothing: does not fit an int64
  bool is_masked = false;                                   // some limit on the keys is asked for

  std::vector<MappedSequence> sequences;
  int64_t num_more_sequences = 0;  // beyond the limit
  std::vector<SharedPage> shared_pages;
  int64_t num_more_shared_pages = 0;
  std::vector<KeyRange> unused;  // pages, or rows of flat k, that no sequence has
  int64_t num_more_unused = 0;   // ranges
  std::vector<MappedStorage> storages;
  std::vector<std::string> unknown;  // what cannot be drawn, in sentences
};

/// How much of a large call is drawn.
struct MapLimits {
  int64_t sequences = 16, pieces = 32, rows = 12;
};
/// Everything, as far as a machine can hold it.
inline constexpr MapLimits kNoMapLimits{1'000'000, 1'000'000'000, 100'000};

/// Draws a call, be it accepted or refused. `launch`: what the wrapper passes, null if it refuses;
/// `small`: the values of lengths, tables and ranges, null if there are none to be had. Nothing is
/// read outside a storage.
KvMap make_kv_map(const Case& c, const LaunchParams* launch, const Inputs* small,
                  const MapLimits& limits);

}  // namespace flashcheck
