// A failure of one device of those that a model is on, and which: whoever started the model may go on without it. It decides nothing.
#pragma once

#include <exception>
#include <string>

#include "hearth/error.h"

namespace hearth {

class DeviceError : public Error {
 public:
  DeviceError(ErrorCode code, const std::string& device, const std::string& message, uint64_t needed = 0, uint64_t available = 0)
      : Error(code, message, needed, available), device(device) {}

  const std::string device;  // its id, as in EngineOptions
};

/// The id of the device that this is a failure of, else "".
inline std::string failed_device(const std::exception& thrown) {
  const auto* error = dynamic_cast<const DeviceError*>(&thrown);
  return error ? error->device : "";
}

}  // namespace hearth
