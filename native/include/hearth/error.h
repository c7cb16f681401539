// The errors of the engine: one code per cause that a user can meet, the same words as electron/contract/errors.ts.
// A test compares the two lists. This header says what failed, never how to show it.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace hearth {

enum class ErrorCode {
  bad_file,                  // damaged, truncated or nonsensical model file
  incomplete_model,          // a part of a split model or a needed tensor is missing
  unsupported_architecture,  // a well-formed file of a family that this engine does not know
  unsupported_type,          // a well-formed file with a tensor type that this engine does not know
  file_not_found,
  out_of_ram,
  out_of_vram,
  device_lost,
  context_length_exceeded,
  invalid_request,
  numeric_error,             // NaN or infinity in the logits
  cancelled,
  queue_full,                // as many requests as may wait are waiting
  internal,
};

constexpr std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::bad_file: return "bad_file";
    case ErrorCode::incomplete_model: return "incomplete_model";
    case ErrorCode::unsupported_architecture: return "unsupported_architecture";
    case ErrorCode::unsupported_type: return "unsupported_type";
    case ErrorCode::file_not_found: return "file_not_found";
    case ErrorCode::out_of_ram: return "out_of_ram";
    case ErrorCode::out_of_vram: return "out_of_vram";
    case ErrorCode::device_lost: return "device_lost";
    case ErrorCode::context_length_exceeded: return "context_length_exceeded";
    case ErrorCode::invalid_request: return "invalid_request";
    case ErrorCode::numeric_error: return "numeric_error";
    case ErrorCode::cancelled: return "cancelled";
    case ErrorCode::queue_full: return "queue_full";
    case ErrorCode::internal: return "internal";
  }
  return "internal";
}

/// A typed failure. `what()` is one plain sentence that names the file, key or tensor concerned.
/// `needed` and `available` are bytes or tokens where the sentence has numbers, else 0.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message, uint64_t needed = 0, uint64_t available = 0)
      : std::runtime_error(message), code(code), needed(needed), available(available) {}

  const ErrorCode code;
  const uint64_t needed;
  const uint64_t available;
};

}  // namespace hearth
