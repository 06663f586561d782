# mutant(NAME FILE FROM TO).
#
# Three lines of flash_forward.h have none, for without them the kernel does the same, only slower: a
# block without rows, or a warp without, would compute what nobody stores, and a tile behind the last
# one would be filled with zeros that nobody reads. One of tile_loads.h has none: rows behind the last
# key would hold key 0 instead of zeros, and the mask hides them either way. Two more, that keep from
# looking up keys and from adding up columns that are not there, would only read behind an allocation:
# the address sanitizer sees it on the same calls, and nothing comes of what is read.

# The pipeline of a block.
mutant(no-wait cuda/flash_forward.h "    ptx::cp_async_wait<kStages - 2>();\n" "")
mutant(wait-for-one-tile-less cuda/flash_forward.h "cp_async_wait<kStages - 2>" "cp_async_wait<kStages - 1>")
mutant(no-barrier cuda/flash_forward.h "    __syncthreads();\n" "")
mutant(barrier-before-wait cuda/flash_forward.h
  "    ptx::cp_async_wait<kStages - 2>();\n    __syncthreads();\n"
  "    __syncthreads();\n    ptx::cp_async_wait<kStages - 2>();\n")
mutant(barrier-after-next-load cuda/flash_forward.h
  "    __syncthreads();\n    start_tile(n + kStages - 1);\n"
  "    start_tile(n + kStages - 1);\n    __syncthreads();\n")
mutant(barrier-only-for-warps-with-rows cuda/flash_forward.h
  "    __syncthreads();\n" "    if (first_row < rows.num) __syncthreads();\n")
mutant(no-commit cuda/flash_forward.h "    ptx::cp_async_commit();\n" "")
mutant(no-last-wait cuda/flash_forward.h "  ptx::cp_async_wait<0>();" "  ")
mutant(one-stage-of-k cuda/flash_forward.h "memory + q.kBytes + n % kStages" "memory + q.kBytes + 0")
mutant(one-stage-of-v cuda/flash_forward.h "                            n % kStages *" "                            0 *")
mutant(no-first-tile cuda/flash_forward.h "  for (int n = 0; n < kStages - 1; ++n) start_tile(n);\n" "")
mutant(q-not-loaded cuda/flash_forward.h "  start_loading_q<T, kShape>(q, params, extent, rows);\n" "")

# Which rows, keys and columns.
mutant(padding-rows-are-stored cuda/flash_forward.h "      if (r >= rows.num) continue;\n" "")
mutant(first-key-not-asked mask.h "window(p_last).begin <= begin && end" "end")
mutant(last-key-not-asked mask.h "window(p_last).begin <= begin && end <= window(p_first).end"
  "window(p_last).begin <= begin")
mutant(window-not-asked cuda/flash_forward.h
  "is_masked = !mask.windows_show(p_first, p_last, first_key, first_key + kN)"
  "is_masked = false")
mutant(padding-keys-not-asked cuda/flash_forward.h
  "first_key, first_key + kN)" "first_key, first_key + keys_in_tile(n))")
mutant(columns-of-the-first-part cuda/tile_loads.h
  "    values.first += work.part * kShape.columns;\n" "")
mutant(padding-columns-of-the-second-part cuda/tile_loads.h
  "num_columns(head_dim - static_cast<int>(work.part) * kShape.columns)" "num_columns(head_dim)")
mutant(keys-of-the-first-tile cuda/tile_loads.h "keys.place(first_key + row)" "keys.place(row)")
mutant(values-where-keys-are cuda/tile_loads.h "values.row(places[i])"
  "values.first + (keys.row(places[i]) - keys.first)")
mutant(one-place-a-batch cuda/tile_loads.h "keys.row(places[i])" "keys.row(places[0])")
mutant(alignment-of-k-taken-for-granted cuda/tile_loads.h
  "is_chunk_aligned(keys.first, keys.row_stride | keys.page_stride) &&\n" "\n")
mutant(alignment-of-v-taken-for-granted cuda/tile_loads.h
  " &&\n                 is_chunk_aligned(values.first, values.row_stride | values.page_stride)" "")
mutant(alignment-of-q-strides-not-asked cuda/tile_loads.h "first, row_stride | head_stride)" "first, 0)")
mutant(rows-of-q-outside-are-read cuda/tile_loads.h "r < rows.num ? first" "true ? first")
mutant(no-swizzle-of-rows cuda/shared_tile.h "(c ^ (row & 7))" "(c ^ (row & 3))")
mutant(columns-outside-are-read cuda/shared_tile.h " && c * 8 < num_columns" "")
mutant(zeros-not-written cuda/shared_tile.h "ptx::cp_async_16(tile" "if (is_inside) ptx::cp_async_16(tile")
mutant(unaligned-rows-outside-are-read cuda/shared_tile.h "is_inside ? from[c * 8 + e] : T{}"
  "from[c * 8 + e]")
mutant(half-of-the-chunks cuda/shared_tile.h "i < kChunks / kLanes" "i < (kChunks / kLanes + 1) / 2")
mutant(tokens-of-tile-0 cuda/query_rows.h "return (first + static_cast<uint32_t>(r)) / group;"
  "return static_cast<uint32_t>(r) / group;")
mutant(heads-of-kv-head-0 cuda/query_rows.h "return kv_head * group + " "return ")
mutant(rows-aligned-at-the-top cuda/query_rows.h "rows.p_offset = extent.position(0);"
  "rows.p_offset = 0;")
mutant(tile-counts-tokens cuda/query_rows.h "extent.seqlen_q * rows.group - rows.first"
  "extent.seqlen_q - rows.first")
mutant(parts-and-splits-swapped cuda/block_work.h
  "    split = block % plan.num_splits;\n    block /= plan.num_splits;\n    part = block % num_parts;\n    block /= num_parts;\n"
  "    part = block % plan.num_splits;\n    block /= plan.num_splits;\n    split = block % num_parts;\n    block /= num_parts;\n")

# The products.
mutant(q-fragment-rows-swapped cuda/tile_products.h "m * 16 + lane % 16, 2 * c + lane / 16"
  "m * 16 + lane % 8 + lane / 16 * 8, 2 * c + lane / 8 % 2")
mutant(k-fragment-halves-swapped cuda/tile_products.h
  "n * 16 + lane / 16 * 8 + lane % 8, 2 * c + lane / 8 % 2" "n * 16 + lane % 16, 2 * c + lane / 16")
mutant(v-not-transposed cuda/tile_products.h "ptx::ldmatrix_x4_trans(b, v" "ptx::ldmatrix_x4(b, v")
mutant(v-fragment-halves-swapped cuda/tile_products.h "v.chunk(k * 16 + lane % 16, 2 * n + lane / 16)"
  "v.chunk(k * 16 + lane / 16 * 8 + lane % 8, 2 * n + lane / 8 % 2)")
mutant(scores-not-cleared cuda/tile_products.h "s[m][n][e] = 0;" "(void)s[m][n][e];")
mutant(weights-of-the-other-rows cuda/tile_products.h
  "p[m][n / 2][n % 2 * 2 + 1] = ptx::pack<T>(s[m][n][2], s[m][n][3]);"
  "p[m][n / 2][n % 2 * 2 + 1] = ptx::pack<T>(s[m][n][0], s[m][n][1]);")
mutant(nonfinite-not-asked cuda/flash_forward.h "is_masked && has_nonfinite(v_tile(n))" "false")
mutant(nonfinite-low-half-not-asked cuda/tile_products.h
  "      any |= (pair & kExponent) == kExponent;\n" "")
mutant(nonfinite-high-half-not-asked cuda/tile_products.h
  "      any |= (pair >> 16 & kExponent) == kExponent;\n" "")
mutant(nonfinite-of-the-other-type cuda/tile_products.h "? 0x7C00u : 0x7F80u" "? 0x7F80u : 0x7C00u")
mutant(nonfinite-of-one-lane cuda/tile_products.h
  "__any_sync(0xFFFFFFFFu, any) != 0" "any")
mutant(nonfinite-seen-by-all cuda/tile_products.h
  "          if (!pairs.mask.is_visible(row_p, pairs.first_key + k16 * 16 + key)) continue;\n" "")
mutant(nonfinite-weight-of-another-key cuda/tile_products.h "key % 8 / 2;" "key % 4;")
mutant(nonfinite-weight-of-the-first-keys cuda/tile_products.h
  "key < 8 ? p[m][k16][e / 2] : p[m][k16][2 + e / 2]" "p[m][k16][e / 2]")
mutant(nonfinite-weight-of-the-even-key cuda/tile_products.h "key % 2 == 0 ? both : both >> 16" "both")

# Logits and the mask.
mutant(mask-not-asked cuda/score_tile.h "!is_masked || (begin <= key" "true || (begin <= key")
mutant(window-begin-not-asked cuda/score_tile.h "(begin <= key && key < end)" "(key < end)")
mutant(window-end-not-asked cuda/score_tile.h "(begin <= key && key < end)" "(begin <= key)")
mutant(ranges-not-asked cuda/score_tile.h "mask.num_ranges > 0 && " "false && ")
mutant(window-of-the-first-tile cuda/score_tile.h "clamped(window.begin - first_key" "clamped(window.begin")
mutant(no-slopes cuda/score_tile.h
  "        if (slopes != nullptr) s[n][e] += logit.alibi_bias(slope, p, first_key + key);\n" "")
mutant(slopes-only-with-a-mask cuda/score_tile.h "slopes == nullptr && !is_masked" "!is_masked")
mutant(mask-only-with-slopes cuda/score_tile.h "slopes == nullptr && !is_masked" "slopes == nullptr")
mutant(slope-of-one-head cuda/score_tile.h "slopes[rows.head(r)]" "slopes[rows.head(row)]")
mutant(rows-of-the-upper-half cuda/score_tile.h "(e < 2 ? 0 : 8)" "0")
mutant(columns-of-even-places cuda/score_tile.h "threadIdx.x % 4 * 2) + e % 2" "threadIdx.x % 4 * 2)")
mutant(no-left-window mask.h "    if (left >= 0 && p - left > 0) keys.begin = p - left;\n" "")
mutant(left-window-one-short mask.h "keys.begin = p - left;" "keys.begin = p - left + 1;")
mutant(no-right-window mask.h
  "    if (right >= 0 && p + right + 1 < num_keys) keys.end = p + right + 1;\n" "")
mutant(right-window-one-short mask.h "num_keys) keys.end = p + right + 1;" "num_keys) keys.end = p + right;")
mutant(keys-past-the-end-are-seen mask.h "    KeyRange keys{0, num_keys};\n    if (left >= 0 && p - left"
  "    KeyRange keys{0, int64_t{1} << 40};\n    if (left >= 0 && p - left")
mutant(ranges-past-the-end mask.h "if (j < 0 || j >= num_keys) return false;" "")
mutant(no-ranges mask.h
  "      if (begin <= j && j < end && begin <= p && p < end) return true;\n" "")
mutant(ranges-for-every-row mask.h "begin <= j && j < end && begin <= p && p < end"
  "begin <= j && j < end")
mutant(ranges-for-every-key mask.h "begin <= j && j < end && begin <= p && p < end"
  "begin <= p && p < end")
mutant(visits-do-not-widen-left mask.h "      if (begin < keys.begin) keys.begin = begin;\n" "")
mutant(visits-do-not-widen-right mask.h "      if (end > keys.end) keys.end = end;\n" "")
mutant(visits-begin-late mask.h "keys.begin = p_first - left;" "keys.begin = p_last - left;")
mutant(visits-end-early mask.h "keys.end = p_last + right + 1;" "keys.end = p_first + right + 1;")
mutant(window-of-the-first-row-alone mask.h "window(p_last).begin" "window(p_first).begin")
mutant(window-of-the-last-row-alone mask.h "window(p_first).end" "window(p_last).end")
mutant(no-cap-of-paged-keys sequence_extent.h "if (mask.num_keys > cap) mask.num_keys = cap;" "")
mutant(causal-not-asked sequence_extent.h "    mask.right = 0;\n" "")
mutant(page-not-looked-up kv_accessor.h "block_table[key / page_block_size]"
  "key / page_block_size")
mutant(row-within-no-page kv_accessor.h "key % page_block_size}" "key}")

# The softmax, and the rows' ends.
mutant(max-of-half-a-quad cuda/row_softmax.h
  "return std::fmax(x, __shfl_xor_sync(0xFFFFFFFFu, x, 2));" "return x;")
mutant(max-of-two-halves cuda/row_softmax.h
  "  x = std::fmax(x, __shfl_xor_sync(0xFFFFFFFFu, x, 1));\n" "")
mutant(sum-of-half-a-quad cuda/row_softmax.h "return x + __shfl_xor_sync(0xFFFFFFFFu, x, 2);" "return x;")
mutant(sum-of-two-halves cuda/row_softmax.h "  x += __shfl_xor_sync(0xFFFFFFFFu, x, 1);\n" "")
mutant(base-of-nothing cuda/row_softmax.h
  "return max == -std::numeric_limits<float>::infinity() ? 0.0f : max;" "return max;")
mutant(sum-not-rescaled cuda/row_softmax.h "    sum *= rescale;\n" "")
mutant(output-not-rescaled cuda/flash_forward.h "o[m][c][e] *= rescale[e / 2];" "(void)rescale;")
mutant(output-rescaled-by-the-other-row cuda/flash_forward.h "rescale[e / 2]" "rescale[e % 2]")
mutant(max-of-this-tile-alone cuda/row_softmax.h "float tile_max = max;" "float tile_max = x[0][kFirst];")
mutant(sum-not-finished cuda/flash_forward.h "      softmax[m][half].finish();\n" "")
mutant(empty-row-divided cuda/row_softmax.h "return sum == 0.0f || sum != sum ? 1.0f"
  "return sum != sum ? 1.0f")
mutant(empty-row-has-a-logarithm cuda/row_softmax.h "if (sum == 0.0f || sum != sum) return"
  "if (sum != sum) return")
mutant(padding-columns-are-stored cuda/output_row.h
  "    if (column >= static_cast<int>(row.params.launch.d)) continue;\n" "")
mutant(padding-columns-of-splits-are-stored cuda/output_row.h
  "    if (column >= d) continue;\n" "")
mutant(columns-of-part-0-are-stored cuda/output_row.h
  "Softmax& softmax, uint32_t part) {\n  const int first = static_cast<int>(part) * kNumTiles * 8 +"
  "Softmax& softmax, uint32_t part) {\n  const int first = 0 * static_cast<int>(part) +")

# Splits.
mutant(splits-begin-at-0 cuda/split_plan.h "KeyRange keys{visited.begin + s * keys_a_split"
  "KeyRange keys{s * keys_a_split")
mutant(last-split-goes-on cuda/split_plan.h "  if (keys.end > visited.end) keys.end = visited.end;\n" "")
mutant(split-tiles-rounded-down cuda/split_plan.h "(tiles + num_splits - 1) / num_splits"
  "tiles / num_splits")
mutant(splits-share-a-place cuda/output_row.h "(split * plan.num_rows + " "(0 * split * plan.num_rows + ")
mutant(sequences-share-a-place cuda/output_row.h "first_row_of(params, sequence) + token" "token")
mutant(combine-of-too-many-rows cuda/combine_splits.h
  "  if (n >= extent.seqlen_q * h) return;\n" "")
mutant(combine-without-base cuda/combine_splits.h "of_split[i].max - softmax.base()"
  "of_split[i].max - softmax.max")
mutant(combine-max-of-one-lane cuda/combine_splits.h "  softmax.max = warp_max(softmax.max);\n" "")
mutant(combine-sum-of-one-lane cuda/combine_splits.h "  softmax.sum = warp_sum(softmax.sum);\n" "")
mutant(combine-sum-not-rescaled cuda/combine_splits.h "of_split[i].sum * rescale[i]" "of_split[i].sum")
mutant(combine-output-not-rescaled cuda/combine_splits.h "chunk.o[e] * weight" "chunk.o[e]")
mutant(combine-of-the-first-32 cuda/combine_splits.h "partial_o[(32 * i + l)" "partial_o[(l)")
mutant(combine-without-the-last-split cuda/combine_splits.h "32 * i + l < plan.num_splits"
  "32 * i + l + 1 < plan.num_splits")
mutant(combine-splits-that-are-not cuda/combine_splits.h "if (s < plan.num_splits) {" "{")
mutant(combine-columns-that-are-not cuda/combine_splits.h "e < 4 && c < chunks" "e < 4")
