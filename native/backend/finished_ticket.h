// The ticket of backends that compute within submit(): there is nothing left to wait for, only the outcome to tell.
#pragma once

#include <exception>
#include <utility>

#include "backend/backend.h"

namespace hearth {

class FinishedTicket final : public Ticket {
 public:
  /// `finished`: the list ran to its end; with an `error`, wait() throws that instead.
  explicit FinishedTicket(bool finished, std::exception_ptr error = nullptr)
      : finished_(finished), error_(std::move(error)) {}
  bool wait() override {
    if (error_) std::rethrow_exception(error_);
    return finished_;
  }

 private:
  bool finished_;
  std::exception_ptr error_;
};

}  // namespace hearth
