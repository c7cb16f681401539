// The trace backend: computes nothing, records op lists as text and looks for hazards.
// The text is stable (one op a line, names and shapes, no ids and no row counts), so that it can be held against a golden file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace hearth {

class TraceBackend : public Backend {
 public:
  /// The ops of all submits so far, one a line. Rows are written R, rows behind select_rows O.
  virtual const std::string& text() const = 0;
  /// What is wrong with the submitted lists: buffers read before they were written, KV stored twice or read
  /// before this step stored it. Empty: nothing.
  virtual const std::vector<std::string>& hazards() const = 0;
  virtual void clear() = 0;
};

/// `read` and `read_kv_block` of this backend yield zeros; `submit` finishes at once.
std::unique_ptr<TraceBackend> make_trace_backend(Precision precision = Precision::exact);

/// "" when `text` equals the file, else a sentence that shows the first line that differs. A file that cannot be read
/// differs. With HEARTH_UPDATE_GOLDEN=1 in the environment the file is written instead.
std::string differs_from_golden(const std::string& text, const std::string& path);

}  // namespace hearth
