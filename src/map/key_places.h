#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/map/drawn_call.h"
#include "src/map/kv_map.h"

namespace flashcheck {

/// Finds where the positions of a call's sequences are kept. Refers to what it is made from.
class KeyPlaces {
 public:
  KeyPlaces(const Case& c, const LaunchParams* launch, const Inputs* small, const DrawnCall& drawn);

  /// One piece a page, batch entry or stretch of rows, in order of position.
  std::vector<Piece> pieces_of(int64_t sequence) const;
  /// The part of a piece that has these positions. Precondition: the piece has them.
  Piece part_of(const Piece& piece, const KeyRange& positions) const;

  /// Rows of a page: k's where it is a pool, else as the argument says.
  int64_t page_block_size() const { return page_block_size_; }
  /// Pages of the pool, or batch entries of k; nothing where k's rank leaves it open, or k is flat.
  std::optional<int64_t> num_blocks() const { return num_blocks_; }
  const std::vector<std::string>& unknown() const { return unknown_; }

 private:
  std::vector<Piece> pages_of(int64_t sequence) const;
  Piece placed(Piece piece) const;
  std::optional<ByteRuns> bytes_of(const TensorSpec& tensor, const Piece& piece) const;
  /// The page that the kernel reads as an entry: the wrapper passes the table's columns as its row
  /// stride. Nothing if that is outside the storage, or the wrapper refused.
  std::optional<int64_t> kernel_page(int64_t sequence, int64_t entry) const;

  const Case& c_;
  const LaunchParams* launch_;
  const Inputs* small_;
  const DrawnCall& drawn_;
  int64_t page_block_size_ = 0;
  std::optional<int64_t> num_blocks_;
  std::vector<std::string> unknown_;
};

}  // namespace flashcheck
