// Where the callers' threads and the engine thread meet: requests in, events out, and who is alive.
// It decides nothing but one thing: a cancelled request ends at once, and a step that works on it is given up.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/live_request.h"
#include "hearth/engine.h"

namespace hearth {

/// Logits of one token list, computed between steps. The promise gets the floats or an Error.
struct LogitsJob {
  std::vector<TokenId> tokens;
  bool all_rows = false;
  std::promise<std::vector<float>> result;
};

/// What the engine thread takes in between two steps, in this order.
struct Mail {
  std::vector<uint64_t> cancelled;  // serials of requests that the engine holds
  std::vector<std::pair<uint64_t, Request>> requests;
  std::vector<std::pair<uint64_t, Guide>> guides;
  std::vector<std::unique_ptr<LogitsJob>> jobs;
  std::optional<uint64_t> kv_grant;  // bytes
};

class Mailbox {
 public:
  /// `most_requests`: more than these at a time are refused, so that what waits is bounded.
  explicit Mailbox(size_t most_requests = 1024) : most_requests_(most_requests) {}

  // From any thread.
  void submit(Request request);
  void guide(RequestId id, Guide guide);
  void cancel(RequestId id);
  void set_kv_grant(uint64_t bytes);
  /// Wakes the engine thread without mail.
  void nudge();
  std::future<std::vector<float>> ask_logits(std::vector<TokenId> tokens, bool all_rows);
  void on_events(std::function<void()> wake);
  std::vector<Event> drain();
  /// Ends everything that waits; the engine thread's next take() says stop.
  void stop();

  // From the engine thread.
  /// Waits until there is mail (`idle`: nothing else to do), or not at all. Nothing: stop.
  std::optional<Mail> take(bool idle);
  /// A step over these requests begins: cancelling one of them from now on gives the step up. False: stop instead.
  bool begin_step(const std::vector<uint64_t>& serials);
  /// Hands out events of requests that are still alive, and wakes the host.
  void publish(std::vector<SerialEvent> events);
  /// Ends with an error whatever the engine thread has taken in, also what it lost before it could look at it.
  void fail_taken(const std::string& why);
  const std::atomic<bool>* abandon() const { return &abandon_; }

 private:
  struct Alive {
    uint64_t serial = 0;
    uint32_t outputs = 0;
    bool taken = false, in_step = false;
  };

  void end(RequestId id, const Alive& alive, FinishReason reason, const std::string& message = {});
  void wake_host(std::unique_lock<std::mutex>& lock);

  const size_t most_requests_;
  mutable std::mutex mutex_;
  std::condition_variable has_mail_;
  Mail mail_;
  std::unordered_map<RequestId, Alive> alive_;
  std::vector<Event> events_;
  std::function<void()> wake_;
  bool woken_ = false, stopped_ = false, nudged_ = false;
  uint64_t last_serial_ = 0;
  std::atomic<bool> abandon_{false};
};

}  // namespace hearth
