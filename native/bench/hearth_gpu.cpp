// `hearth_gpu [--device ID] [--shapes 20b,120b|small] [--out FILE] [--seconds S]`: what a graphics device does with models of gpt-oss's
// shapes, weights out of a seed straight into its memory, no file. One line of JSON for each stage, flushed, and a table at the end.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <sstream>

#include "backend/synthetic_weights.h"
#include "backend/top_logits.h"
#include "backend/vulkan/vulkan.h"
#include "hearth/error.h"
#include "model/transformer.h"

namespace hearth {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

struct Shape {
  std::string name;
  uint32_t layers, experts, hidden, heads, kv_heads, head_dim, intermediate, vocabulary, prompt;
};
constexpr int does_not_fit = 3;  // the exit code where memory was all that a shape lacked
constexpr uint32_t chosen = 4, window = 128, block = 16, most_batch = 8;
const Shape shapes[] = {{"20b", 24, 32, 2880, 64, 8, 64, 2880, 201088, 2048},
                        {"120b", 36, 128, 2880, 64, 8, 64, 2880, 201088, 2048},
                        {"small", 2, 4, 256, 8, 2, 32, 256, 1000, 96}};

struct Options {
  std::string device = "vulkan", out = "hearth-gpu.jsonl", shapes = "20b,120b";
  double seconds = 5;  // of decoding, for a figure
};

/// Lines of JSON, each on disk before the next stage begins: a machine may go away.
class Report {
 public:
  explicit Report(const std::string& path) : file_(std::fopen(path.c_str(), "w")) {
    if (!file_) throw Error(ErrorCode::file_not_found, "The report " + path + " cannot be written.");
  }
  ~Report() { std::fclose(file_); }
  void line(const std::string& json) {
    std::fprintf(file_, "%s\n", json.c_str());
    std::fflush(file_);
    std::printf("%s\n", json.c_str());
    std::fflush(stdout);
  }

 private:
  std::FILE* file_;
};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 32 ? ' ' : c;
  }
  return out + "\"";
}

std::string list(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& each : texts) out.append(out.empty() ? "[" : ",").append(quoted(each));
  return out.empty() ? "[]" : out.append("]");
}

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

ModelSpec spec_of(const Shape& s) {
  ModelSpec spec;
  spec.architecture = "gpt-oss", spec.name = s.name, spec.hidden = s.hidden, spec.vocabulary = s.vocabulary, spec.context = 131072;
  spec.heads = s.heads, spec.kv_heads = s.kv_heads, spec.head_dim = s.head_dim;
  spec.groups = {{AttentionKind::full, 0, s.layers / 2}, {AttentionKind::window, window, s.layers / 2}};
  for (uint32_t l = 0; l < s.layers; ++l) {
    LayerSpec layer;
    AttentionSpec& a = layer.attention;
    const bool narrow = l % 2 == 0;
    a.kind = narrow ? AttentionKind::window : AttentionKind::full, a.window = narrow ? window : 0, a.group = narrow ? 1 : 0, a.layer_in_group = l / 2;
    a.sinks = a.qkv_bias = a.out_bias = true, a.scale = 1.0 / std::sqrt(double(s.head_dim));
    a.rope.dims = s.head_dim, a.rope.theta = 150000, a.rope.yarn = true, a.rope.yarn_factor = 32, a.rope.yarn_original_context = 4096;
    MlpSpec& m = layer.mlp;
    m.kind = MlpKind::moe, m.activation = Activation::swiglu_oai, m.intermediate = s.intermediate, m.bias = true;
    m.experts = s.experts, m.experts_used = chosen;
    spec.layers.push_back(layer);
  }
  return spec;
}

/// Weights of a shape. Experts share one matrix's bytes: a device reads as many of its own as if each had its own words.
class Weights {
 public:
  explicit Weights(const Shape& s) {
    const uint32_t q = s.heads * s.head_dim, kv = s.kv_heads * s.head_dim;
    all.embedding = own("embedding", DType::q8_0, s.vocabulary, s.hidden), all.output = own("output", DType::q8_0, s.vocabulary, s.hidden);
    all.output_norm.assign(s.hidden, 1.0f);
    for (uint32_t l = 0; l < s.layers; ++l) {
      LayerWeights w;
      w.attention_norm.assign(s.hidden, 1.0f), w.mlp_norm.assign(s.hidden, 1.0f);
      w.q = own("q", DType::q8_0, q, s.hidden), w.k = own("k", DType::q8_0, kv, s.hidden), w.v = own("v", DType::q8_0, kv, s.hidden);
      w.o = own("o", DType::q8_0, s.hidden, q);
      w.q_bias.assign(q, 0.01f), w.k_bias.assign(kv, 0.01f), w.v_bias.assign(kv, 0.01f), w.o_bias.assign(s.hidden, 0.01f), w.sinks.assign(s.heads, 0.1f);
      w.router = own("router", DType::f32, s.experts, s.hidden), w.router_bias.assign(s.experts, 0.0f);
      w.gate = shared(gate_, "gate", s.intermediate, s.hidden, s.experts), w.up = shared(up_, "up", s.intermediate, s.hidden, s.experts);
      w.down = shared(down_, "down", s.hidden, s.intermediate, s.experts);
      w.gate_bias.assign(size_t(s.experts) * s.intermediate, 0.01f), w.up_bias = w.gate_bias;
      w.down_bias.assign(size_t(s.experts) * s.hidden, 0.01f);
      all.layers.push_back(std::move(w));
    }
  }
  /// Bytes of weights that a token at a time makes a device read, embedding apart.
  double read_for_a_token() const {
    double bytes = double(all.output.bytes());
    for (const LayerWeights& w : all.layers) {
      bytes += double(w.q.bytes() + w.k.bytes() + w.v.bytes() + w.o.bytes() + w.router.bytes());
      bytes += double(w.gate.bytes() + w.up.bytes() + w.down.bytes()) / w.gate.experts * chosen;
    }
    return bytes;
  }
  double multiply_adds_for_a_token() const {
    double work = 0;
    for (const LayerWeights& w : all.layers) {
      for (const Matrix* m : {&w.q, &w.k, &w.v, &w.o, &w.router}) work += double(m->rows) * m->cols;
      for (const Matrix* m : {&w.gate, &w.up, &w.down}) work += double(m->rows) * m->cols * chosen;
    }
    return work;
  }
  ModelWeights all;

 private:
  Matrix own(const char* name, DType type, uint32_t rows, uint32_t cols) {
    owned_.push_back(std::make_unique<SyntheticMatrix>(name, type, rows, cols, 1, owned_.size()));
    return owned_.back()->matrix;
  }
  Matrix shared(std::unique_ptr<SyntheticMatrix>& one, const char* name, uint32_t rows, uint32_t cols, uint32_t experts) {
    if (!one) one = std::make_unique<SyntheticMatrix>(name, DType::mxfp4, rows, cols, 1, 77);
    Matrix m = one->matrix;
    m.experts = experts, m.expert_stride = 0;
    return m;
  }
  std::vector<std::unique_ptr<SyntheticMatrix>> owned_;
  std::unique_ptr<SyntheticMatrix> gate_, up_, down_;
};

/// One sequence's rows in a step.
struct Rows { uint32_t sequence, first, count; };

StepInputs inputs_of(const std::vector<Rows>& parts, uint32_t blocks_each, uint32_t vocabulary) {
  StepInputs in;
  in.groups = 2;
  for (const Rows& part : parts) {
    for (uint32_t i = 0; i < part.count; ++i) {
      in.tokens.push_back(static_cast<int32_t>((part.first + i) * 7919u % vocabulary));
      in.positions.push_back(part.first + i), in.sequence.push_back(in.sequences);
    }
    in.output_rows.push_back(in.rows() - 1);
    for (uint32_t g = 0; g < 2; ++g) {
      in.table_begin.push_back(static_cast<uint32_t>(in.blocks.size()));
      for (uint32_t b = 0; b < blocks_each; ++b) in.blocks.push_back((part.sequence * 2 + g) * blocks_each + b);
    }
    ++in.sequences;
  }
  return in;
}

struct Figures { double load = 0, first = 0, prefill = 0, decode = 0, batch = 0, bandwidth = 0, matrix = 0; };

class Model {
 public:
  Model(const Shape& s, const Options& options) : shape_(s), weights_(s), spec_(spec_of(s)) {
    VulkanOptions vulkan;
    vulkan.device = options.device;
    if (const char* folder = std::getenv("HEARTH_VULKAN_CACHE")) vulkan.cache_folder = folder;
    backend_ = make_vulkan_backend(vulkan);
    transformer_ = std::make_unique<Transformer>(spec_, weights_.all, *backend_, TransformerLimits{s.prompt, most_batch, s.prompt + 1024});
    backend_->set_kv_shape(transformer_->kv_shape(block));
    blocks_each_ = (s.prompt + 1024) / block;
    backend_->resize_kv(2 * most_batch * blocks_each_);
    ops_ = transformer_->record(StepTail::logits);
    best_ops_ = transformer_->record(StepTail::top_logits);
  }
  Backend& backend() { return *backend_; }
  const Weights& weights() const { return weights_; }
  /// Bytes that come back to the host for each sequence of a step, so that its next token can be chosen.
  uint64_t read_for_a_row() const { return read_for_a_row_; }
  double step(const std::vector<Rows>& parts) {
    const StepInputs in = inputs_of(parts, blocks_each_, shape_.vocabulary);
    const Clock::time_point begin = Clock::now();
    const bool best = backend_->far_logits();
    backend_->submit(best ? best_ops_ : ops_, in, nullptr)->wait();
    const uint32_t cols = best ? TopLayout{shape_.vocabulary, most_top}.cols() : shape_.vocabulary;
    result_.resize(parts.size() * cols);
    backend_->read(best ? transformer_->top_logits() : transformer_->logits(), 0, static_cast<uint32_t>(parts.size()), result_.data());
    read_for_a_row_ = cols * sizeof(float);
    return seconds_since(begin);
  }
  /// Tokens a second of `sequences` at once, from the end of a prompt on.
  double decode(uint32_t sequences, double seconds) {
    std::vector<Rows> parts;
    for (uint32_t s = 0; s < sequences; ++s) parts.push_back({s, shape_.prompt, 1});
    step(parts);  // compiles
    const Clock::time_point begin = Clock::now();
    uint32_t steps = 0;
    while (steps < 1000 && (steps == 0 || seconds_since(begin) < seconds)) {
      for (Rows& part : parts) ++part.first;
      step(parts), ++steps;
    }
    return sequences * steps / seconds_since(begin);
  }

 private:
  const Shape& shape_;
  Weights weights_;
  ModelSpec spec_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Transformer> transformer_;
  OpList ops_, best_ops_;
  std::vector<float> result_;
  uint64_t read_for_a_row_ = 0;
  uint32_t blocks_each_ = 0;
};

Figures run(const Shape& shape, const Options& options, const VulkanRates& rates, Report& report) {
  Figures f;
  const Clock::time_point begin = Clock::now();
  Model model(shape, options);
  f.load = seconds_since(begin);
  const auto tell = [&](const std::string& stage, const std::string& rest) {
    report.line("{\"stage\":" + quoted(shape.name + " " + stage) + ",\"seconds\":" + number(seconds_since(begin)) + "," + rest + "}");
  };
  tell("load", "\"load_s\":" + number(f.load));
  f.first = model.step({{0, 0, std::min(64u, shape.prompt)}});  // self-test and compiling
  tell("first step", "\"first_step_s\":" + number(f.first) + ",\"kernels\":" + quoted(model.backend().name()) + ",\"notes\":" + list(model.backend().notes()));
  model.step({{0, 0, shape.prompt}});
  const double took = model.step({{0, 0, shape.prompt}});
  f.prefill = shape.prompt / took;
  const double peak = std::max(rates.multiply_adds, rates.matrix_multiply_adds);
  f.matrix = f.prefill * model.weights().multiply_adds_for_a_token() / peak;
  tell("prefill", "\"tokens_per_s\":" + number(f.prefill) + ",\"of_matrix_rate\":" + number(f.matrix));
  f.decode = model.decode(1, options.seconds);
  f.bandwidth = f.decode * model.weights().read_for_a_token() / rates.copy;
  tell("decode", "\"tokens_per_s\":" + number(f.decode) + ",\"of_copy_bandwidth\":" + number(f.bandwidth) + ",\"read_bytes_a_token\":" + number(double(model.read_for_a_row())));
  f.batch = model.decode(most_batch, options.seconds);
  tell("batch of 8", "\"tokens_per_s\":" + number(f.batch));
  return f;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--device") options.device = value;
    else if (name == "--shapes") options.shapes = value;
    else if (name == "--out") options.out = value;
    else if (name == "--seconds") options.seconds = std::atof(value.c_str());
    else throw Error(ErrorCode::invalid_request, "There is no option " + name + ".");
  }
  return options;
}

/// The wanted device; software only where there is nothing else.
std::string device_of(const std::string& wanted, const VulkanDevices& found) {
  const bool card = std::any_of(found.devices.begin(), found.devices.end(), [](const VulkanDevice& d) { return d.type != "cpu"; });
  return wanted == "vulkan" && !card && !found.devices.empty() ? found.devices[0].id : wanted;
}

void describe(const VulkanDevices& found, Report& report) {
  report.line("{\"stage\":\"devices\",\"notes\":" + list(found.notes) + "}");
  for (const VulkanDevice& d : found.devices) {
    std::vector<std::string> off;
    for (const VulkanOff& each : d.off) off.push_back(each.feature + ": " + each.reason);
    report.line("{\"stage\":\"device\",\"id\":" + quoted(d.id) + ",\"name\":" + quoted(d.name) + ",\"type\":" + quoted(d.type) + ",\"driver\":" +
                quoted(d.driver + " " + d.driver_info) + ",\"memory\":" + number(double(d.memory_total)) + ",\"free\":" + number(double(d.memory_free)) +
                ",\"subgroup\":" + number(d.limits.subgroup) + ",\"features\":" + list(d.features) + ",\"off\":" + list(off) + "}");
  }
}

int main_of(int argc, char** argv) {
  Options options = parse(argc, argv);
  Report report(options.out);
  const VulkanDevices found = vulkan_devices();
  describe(found, report);
  options.device = device_of(options.device, found);
  VulkanOptions vulkan;
  vulkan.device = options.device;
  const VulkanRates rates = vulkan_rates(vulkan);
  report.line("{\"stage\":\"rates\",\"copy_gb_s\":" + number(rates.copy / 1e9) + ",\"fma_tera\":" + number(rates.multiply_adds / 1e12) +
              ",\"matrix_fma_tera\":" + number(rates.matrix_multiply_adds / 1e12) + "}");
  int code = 0;
  std::string table;
  for (const Shape& shape : shapes) {
    if (("," + options.shapes + ",").find("," + shape.name + ",") == std::string::npos) continue;
    try {
      const Figures f = run(shape, options, rates, report);
      if (table.empty()) table = "shape    load s  first s  prefill/s  of rate  decode/s  of bandwidth  batch 8/s\n";
      char line[160];
      std::snprintf(line, sizeof line, "%-8s %6.1f  %7.1f  %9.1f  %6.1f%%  %8.1f  %11.1f%%  %9.1f\n", shape.name.c_str(), f.load, f.first, f.prefill,
                    100 * f.matrix, f.decode, 100 * f.bandwidth, f.batch);
      table += line;
    } catch (const Error& error) {
      report.line("{\"stage\":" + quoted(shape.name) + ",\"error\":" + quoted(std::string(to_string(error.code)) + ": " + error.what()) + "}");
      table += shape.name + ": " + error.what() + "\n";
      if (code != 1) code = error.code == ErrorCode::out_of_vram ? does_not_fit : 1;
    }
  }
  std::fputs(table.c_str(), stdout);
  return code;
}

}  // namespace
}  // namespace hearth

int main(int argc, char** argv) {
  try {
    return hearth::main_of(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
