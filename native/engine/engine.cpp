// Engine::load and the public face of a loaded model: checks what comes in, then leaves it to the loop's thread.
// What a request may ask is decided here; when it is computed is the loop's business.
#include "hearth/engine.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <thread>

#include "engine/kv_plan.h"
#include "engine/mailbox.h"
#include "engine/memory_plan.h"
#include "engine/model_cost.h"
#include "engine/placed_model.h"
#include "engine/step_loop.h"
#include "hearth/probe.h"
#include "model/mapped_file.h"
#include "model/model_file.h"

namespace hearth {
namespace {

constexpr uint32_t block_size = kv_block_size;
constexpr uint64_t held_bytes = uint64_t(64) << 20;    // what logits that wait for a mask may take
constexpr auto warm_up_limit = std::chrono::milliseconds(1500);

/// Becomes true when the load is cancelled, or when `limit` has passed.
class Deadline {
 public:
  Deadline(std::chrono::milliseconds limit, const std::atomic<bool>* cancel)
      : thread_([this, limit, cancel] {
          const auto end = std::chrono::steady_clock::now() + limit;
          while (!done_ && std::chrono::steady_clock::now() < end && !(cancel && *cancel)) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
          }
          passed_ = true;
        }) {}
  ~Deadline() {
    done_ = true;
    thread_.join();
  }
  const std::atomic<bool>* passed() const { return &passed_; }

 private:
  std::atomic<bool> done_{false}, passed_{false};
  std::thread thread_;
};

void check_tokens(const std::vector<TokenId>& tokens, uint32_t vocabulary, const char* what) {
  for (TokenId token : tokens) {
    if (token < 0 || static_cast<uint32_t>(token) >= vocabulary) {
      throw Error(ErrorCode::invalid_request,
                  std::string(what) + " contains token " + std::to_string(token) + ", which the model does not have.");
    }
  }
}

class LoadedEngine final : public Engine {
 public:
  LoadedEngine(const EngineOptions& options, const LoadProgress& progress, const std::atomic<bool>* cancel)
      : progress_(progress), cancel_(cancel), mailbox_(size_t(options.max_sequences) + options.max_waiting) {
    step(0.0, "open");
    file_ = open_model(options.model_path, {options.yarn_truncate, false, true});
    step(0.02, "weights");
    model_ = std::make_unique<PlacedModel>(options, file_, block_size);
    const SchedulerLimits limits = scheduler_limits(options, file_.spec);
    const uint64_t block_bytes = model_->kv_block_bytes();
    const KvPlan plan = plan_kv(limits, {block_bytes, file_.spec.context, options.context, options.kv_bytes, model_->kv_memory_free()});
    model_->load({limits.prefill_rows + limits.max_sequences + limits.draft_rows, limits.output_rows, plan.context},
                 [this](double part) { step(0.02 + 0.88 * part, "weights"); });
    make_loop(options, limits, plan, block_bytes);
    step(0.9, "warmup");
    loop_->warm_up(Deadline(warm_up_limit, cancel).passed());
    model_->forget_uses();  // nobody asked for those rows
    notes_ = model_->device().notes();  // its first step has tried its kernels; from here on it is the engine thread's
    step(1.0, "warmup");
    progress_ = {};
    cancel_ = nullptr;
    thread_ = std::thread([this] { loop_->run(); });
  }

  ~LoadedEngine() override { stop(); }

  const ModelInfo& model() const override { return file_.info; }
  uint32_t context() const override { return context_; }
  std::string kernels() const override { return model_->device().name(); }
  std::vector<std::string> notes() const override { return notes_; }

  void submit(Request request) override {
    check_tokens(request.prompt, vocabulary(), "The prompt");
    check_tokens(request.resume_tokens, vocabulary(), "The resumed output");
    validate(request.sampling, vocabulary());
    if (request.prompt.empty()) throw Error(ErrorCode::invalid_request, "The prompt is empty.");
    if (request.prompt.size() >= context_) {
      throw Error(ErrorCode::context_length_exceeded,
                  "The prompt has " + std::to_string(request.prompt.size()) + " tokens; the context holds " +
                      std::to_string(context_) + " with at least one to answer.",
                  request.prompt.size() + 1, context_);
    }
    mailbox_.submit(std::move(request));
  }

  void guide(RequestId id, Guide guide) override {
    check_tokens(guide.forced, vocabulary(), "The forced output");
    if (!guide.forced.empty() && !guide.mask.empty()) {
      throw Error(ErrorCode::invalid_request, "A guide has either forced tokens or a mask.");
    }
    if (!guide.mask.empty() && guide.mask.size() != (vocabulary() + 31) / 32) {
      throw Error(ErrorCode::invalid_request, "The mask does not have one bit for each token.");
    }
    mailbox_.guide(id, std::move(guide));
  }

  void cancel(RequestId id) override { mailbox_.cancel(id); }
  void on_events(std::function<void()> wake) override { mailbox_.on_events(std::move(wake)); }
  std::vector<Event> drain() override { return mailbox_.drain(); }

  void set_kv_grant(uint64_t bytes) override { mailbox_.set_kv_grant(bytes); }

  std::vector<float> logits(const std::vector<TokenId>& tokens) override { return ask_logits(tokens, false); }
  std::vector<float> all_logits(const std::vector<TokenId>& tokens) override { return ask_logits(tokens, true); }

  EngineStats stats() const override {
    EngineStats stats = loop_->stats();
    stats.spilled_bytes = std::min(stats.device_bytes, model_->device().over_budget());
    stats.weight_bytes = file_.info.file_bytes;
    return stats;
  }

  ExpertUses expert_uses() const override { return model_->expert_uses(); }

  void stop() override {
    mailbox_.stop();
    std::lock_guard lock(join_mutex_);
    if (thread_.joinable()) thread_.join();
  }

 private:
  uint32_t vocabulary() const { return file_.spec.vocabulary; }

  /// Progress, and the place where a cancelled load ends.
  void step(double fraction, const char* phase) {
    if (cancel_ && *cancel_) throw Error(ErrorCode::cancelled, "Loading was cancelled.");
    if (progress_) progress_(phase, fraction);
  }

  void make_loop(const EngineOptions& options, const SchedulerLimits& limits, const KvPlan& plan, uint64_t block_bytes) {
    context_ = plan.context;
    runner_ = std::make_unique<StepRunner>(model_->device(), model_->lists(), static_cast<uint32_t>(limits.groups.size()), vocabulary(),
                                           [this] { check_whole(file_); });
    LoopOptions loop;
    loop.limits = limits;
    loop.cost = model_cost(file_.spec, file_.weights);
    loop.held_rows = static_cast<uint32_t>(held_bytes / (uint64_t(vocabulary()) * sizeof(float)) + 1);
    loop.context = plan.context;
    loop.vocabulary = vocabulary();
    loop.blocks = plan.blocks;
    loop.slab = plan.slab;
    loop.block_bytes = block_bytes;
    loop.prefix_cache = options.prefix_cache;
    if (options.prefix_cache) {
      loop.tiers.block_bytes = model_->kv_copy_bytes();
      loop.tiers.host_bytes = options.host_cache_bytes;
      loop.tiers.disk_folder = options.disk_cache_path;
      loop.tiers.disk_bytes = options.disk_cache_bytes;
    }
    loop.cache_answers = !model_->writes_elsewhere();
    loop.cache_salt = cache_salt(options, block_bytes);
    loop_ = std::make_unique<StepLoop>(loop, model_->device(), *runner_, mailbox_);
  }

  /// Bytes of KV are a function of the tokens and of these.
  std::string cache_salt(const EngineOptions& options, uint64_t block_bytes) const {
    // LongRoPE's angles follow from the longest sequence that there may be.
    const bool long_rope = std::any_of(file_.spec.layers.begin(), file_.spec.layers.end(), [this](const LayerSpec& layer) {
      return !layer.attention.rope.long_divisors.empty() && context_ > layer.attention.rope.short_context;
    });
    return "v1 " + file_.info.model_id + files_as_they_are() + ' ' + model_->device().name() + model_->layout() + ' ' + engine_build() + ' ' +
           (model_->device().precision() == Precision::exact ? "exact" : "fast") + (options.yarn_truncate ? " yarn_truncate" : "") +
           (long_rope ? " long_rope " : " ") +
           std::to_string(block_size) + ' ' + std::to_string(block_bytes) + ' ' + std::to_string(static_cast<int>(model_->device().kv_type()));
  }

  /// The model's id samples its files: an edit in place between two samples shows only here.
  std::string files_as_they_are() const {
    std::string text;
    for (const auto& file : file_.files) {
      std::error_code unknown;
      const auto changed = std::filesystem::last_write_time(file->path(), unknown).time_since_epoch().count();
      text += ' ' + std::to_string(file->bytes().size()) + ':' + std::to_string(unknown ? 0 : changed);
    }
    return text;
  }

  std::vector<float> ask_logits(const std::vector<TokenId>& tokens, bool all_rows) {
    check_tokens(tokens, vocabulary(), "The list");
    if (tokens.empty()) throw Error(ErrorCode::invalid_request, "There are no tokens.");
    if (tokens.size() > context_) {
      throw Error(ErrorCode::context_length_exceeded, "These tokens do not fit into the context.", tokens.size(), context_);
    }
    return mailbox_.ask_logits(tokens, all_rows).get();
  }

  LoadProgress progress_;
  const std::atomic<bool>* cancel_;
  ModelFile file_;  // first: the backend reads its mappings to the end
  std::unique_ptr<PlacedModel> model_;
  std::unique_ptr<StepRunner> runner_;
  Mailbox mailbox_;
  std::unique_ptr<StepLoop> loop_;
  uint32_t context_ = 0;
  std::vector<std::string> notes_;
  std::mutex join_mutex_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Engine> Engine::load(const EngineOptions& options, const LoadProgress& progress,
                                     const std::atomic<bool>* cancel) {
  return std::make_unique<LoadedEngine>(options, progress, cancel);
}

}  // namespace hearth
