// Implements the mailbox: one mutex, held for moments, never across a step or a callback.
#include "engine/mailbox.h"

#include <algorithm>
#include <string>
#include <utility>

#include "hearth/error.h"

namespace hearth {
namespace {

[[noreturn]] void throw_stopped() { throw Error(ErrorCode::cancelled, "The model has been unloaded."); }

}  // namespace

void Mailbox::submit(Request request) {
  std::unique_lock lock(mutex_);
  if (stopped_) throw_stopped();
  if (alive_.count(request.id)) throw Error(ErrorCode::invalid_request, "A request with this id is still running.");
  if (alive_.size() >= most_requests_) {
    throw Error(ErrorCode::queue_full, std::to_string(alive_.size()) + " requests are waiting already.", alive_.size() + 1, most_requests_);
  }
  Alive alive;
  alive.serial = ++last_serial_;
  alive.outputs = static_cast<uint32_t>(request.resume_tokens.size());
  alive_[request.id] = alive;
  mail_.requests.emplace_back(alive.serial, std::move(request));
  has_mail_.notify_one();
}

void Mailbox::guide(RequestId id, Guide guide) {
  std::unique_lock lock(mutex_);
  const auto found = alive_.find(id);
  if (found == alive_.end()) return;
  mail_.guides.emplace_back(found->second.serial, std::move(guide));
  has_mail_.notify_one();
}

void Mailbox::cancel(RequestId id) {
  std::unique_lock lock(mutex_);
  const auto found = alive_.find(id);
  if (found == alive_.end()) return;
  const Alive alive = found->second;
  if (alive.taken) {
    mail_.cancelled.push_back(alive.serial);
  } else {
    std::erase_if(mail_.requests, [&](const auto& each) { return each.first == alive.serial; });
  }
  if (alive.in_step) abandon_ = true;
  alive_.erase(found);
  end(id, alive, FinishReason::cancelled);
  has_mail_.notify_one();
  wake_host(lock);
}

void Mailbox::set_kv_grant(uint64_t bytes) {
  std::unique_lock lock(mutex_);
  mail_.kv_grant = bytes;
  has_mail_.notify_one();
}

void Mailbox::nudge() {
  std::unique_lock lock(mutex_);
  nudged_ = true;
  has_mail_.notify_one();
}

void Mailbox::end(RequestId id, const Alive& alive, FinishReason reason, const std::string& message) {
  Event e;
  e.id = id;
  e.kind = Event::Kind::finished;
  e.reason = reason;
  if (reason == FinishReason::error) e.error = ErrorCode::internal;
  e.message = message;
  e.total = alive.outputs;
  events_.push_back(std::move(e));
}

std::future<std::vector<float>> Mailbox::ask_logits(std::vector<TokenId> tokens, bool all_rows) {
  auto job = std::make_unique<LogitsJob>();
  job->tokens = std::move(tokens);
  job->all_rows = all_rows;
  auto result = job->result.get_future();
  std::unique_lock lock(mutex_);
  if (stopped_) throw_stopped();
  mail_.jobs.push_back(std::move(job));
  has_mail_.notify_one();
  return result;
}

void Mailbox::on_events(std::function<void()> wake) {
  std::unique_lock lock(mutex_);
  wake_ = std::move(wake);
  woken_ = false;
  if (!events_.empty()) wake_host(lock);
}

std::vector<Event> Mailbox::drain() {
  std::unique_lock lock(mutex_);
  woken_ = false;
  return std::exchange(events_, {});
}

void Mailbox::stop() {
  std::unique_lock lock(mutex_);
  if (stopped_) return;
  stopped_ = true;
  abandon_ = true;
  for (const auto& [id, alive] : alive_) end(id, alive, FinishReason::cancelled);
  alive_.clear();
  for (auto& job : mail_.jobs) {
    job->result.set_exception(std::make_exception_ptr(Error(ErrorCode::cancelled, "The model has been unloaded.")));
  }
  mail_ = {};
  has_mail_.notify_one();
  if (!events_.empty()) wake_host(lock);
}

std::optional<Mail> Mailbox::take(bool idle) {
  std::unique_lock lock(mutex_);
  const auto ready = [&] {
    return stopped_ || !mail_.cancelled.empty() || !mail_.requests.empty() || !mail_.guides.empty() || !mail_.jobs.empty() ||
           mail_.kv_grant || nudged_;
  };
  if (idle) has_mail_.wait(lock, ready);
  nudged_ = false;
  if (stopped_) return std::nullopt;
  for (const auto& [serial, request] : mail_.requests) {
    const auto found = alive_.find(request.id);
    if (found != alive_.end()) found->second.taken = true;
  }
  return std::exchange(mail_, {});
}

bool Mailbox::begin_step(const std::vector<uint64_t>& serials) {
  std::unique_lock lock(mutex_);
  if (stopped_) return false;
  abandon_ = false;
  size_t found = 0;
  for (auto& [id, alive] : alive_) {
    alive.in_step = std::find(serials.begin(), serials.end(), alive.serial) != serials.end();
    found += alive.in_step ? 1 : 0;
  }
  return found == serials.size();  // else one was cancelled since the plan was made: a step for nobody
}

void Mailbox::publish(std::vector<SerialEvent> events) {
  std::unique_lock lock(mutex_);
  for (auto& [id, alive] : alive_) alive.in_step = false;
  const auto now = std::chrono::steady_clock::now();
  const size_t before = events_.size();
  for (SerialEvent& each : events) {
    const auto found = alive_.find(each.event.id);
    if (found == alive_.end() || found->second.serial != each.serial) continue;  // cancelled meanwhile
    if (each.event.kind == Event::Kind::token) found->second.outputs = each.event.index + 1;
    if (each.event.kind == Event::Kind::finished) alive_.erase(found);
    each.event.at = now;
    events_.push_back(std::move(each.event));
  }
  if (events_.size() > before) wake_host(lock);
}

void Mailbox::fail_taken(const std::string& why) {
  std::unique_lock lock(mutex_);
  const size_t before = events_.size();
  for (auto each = alive_.begin(); each != alive_.end();) {
    if (!each->second.taken) {
      ++each;
      continue;
    }
    end(each->first, each->second, FinishReason::error, why);
    each = alive_.erase(each);
  }
  if (events_.size() > before) wake_host(lock);
}

void Mailbox::wake_host(std::unique_lock<std::mutex>& lock) {
  if (woken_ || !wake_) return;
  woken_ = true;
  const std::function<void()> wake = wake_;  // called without the lock, so that it may call back
  lock.unlock();
  wake();
  lock.lock();
}

}  // namespace hearth
