// `hearth_kernels [--type T] [--rows N,...] [--threads N,...] [--isa NAME] [--seconds S]`: matmul kernels of the CPU backend,
// run through its own ops in the shapes of gpt-oss-20b, weights from memory, beside the machine's measured limits.
// Speeds are of the whole op: preparation of rows and the end of the parallel loop included.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <set>
#include <sstream>

#include "backend/backend.h"
#include "bench/machine_limits.h"
#include "hearth/error.h"
#include "test/backend_testing.h"

namespace hearth {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t pool_bytes = size_t(320) << 20;  // weights in all: far beyond the caches
constexpr uint32_t experts = 32, routes_per_row = 4, most_rows = 2048;

/// Columns of the weights: the model's, or the nearest that a type with long blocks can have.
uint32_t width_of(DType type) { return info(type).block == 256 ? 2816 : 2880; }

struct Options {
  std::vector<std::string> types{"MXFP4", "Q8_0"};
  std::vector<uint32_t> rows{1, 2, 4, 8, 16, 64, 512}, threads{1, 2};
  std::string isa;
  double seconds = 0.4;  // per figure
};

/// What one submission of `ops` does.
struct Work {
  OpList ops;
  StepInputs inputs;
  double bytes = 0, operations = 0;
};

/// Memory full of valid rows of one type and width, from which weights are cut one after the other, again from the front
/// when it is used up.
class RowPool {
 public:
  explicit RowPool(DType type) : type_(type), cols_(width_of(type)), stride_(row_bytes(type, cols_)), bytes_(pool_bytes) {
    testing::Random random(7);
    const size_t few = std::min<size_t>(64, bytes_.size() / stride_);
    for (size_t r = 0; r < few; ++r) testing::random_row(random, type, cols_, &bytes_[r * stride_], nullptr);
    for (size_t at = few * stride_; at < bytes_.size(); at += few * stride_) {
      std::copy_n(bytes_.begin(), std::min(few * stride_, bytes_.size() - at), bytes_.begin() + at);
    }
  }
  uint32_t cols() const { return cols_; }
  /// How many matrices of `rows` fit without sharing memory.
  uint32_t room(uint32_t rows) const { return static_cast<uint32_t>(bytes_.size() / (stride_ * rows)); }
  Matrix cut(uint32_t rows, uint32_t count) {
    const size_t need = stride_ * rows * count;
    if (need > bytes_.size() - used_) used_ = 0;
    Matrix m{"", type_, rows, cols_, count, bytes_.data() + used_, stride_, stride_ * rows};
    used_ += need;
    return m;
  }

 private:
  DType type_;
  uint32_t cols_;
  size_t stride_;
  std::vector<std::byte> bytes_;
  size_t used_ = 0;
};

StepInputs rows_of(uint32_t rows) {
  StepInputs in;
  for (uint32_t r = 0; r < rows; ++r) in.tokens.push_back(static_cast<int32_t>(r % 64)), in.positions.push_back(r);
  in.sequence.assign(rows, 0);
  in.sequences = 1;
  return in;
}

/// Random routes: one row's experts are dealt from a deck so that a single row meets every expert in turn, as it would
/// over the layers of a model; rows of a batch choose on their own.
std::vector<int32_t> deal(testing::Random& random, uint32_t layers, uint32_t rows, uint32_t of) {
  std::vector<int32_t> deck(of), routes;
  std::iota(deck.begin(), deck.end(), 0);
  size_t dealt = deck.size();
  for (uint32_t row = 0; row < layers * rows; ++row) {
    if (dealt + routes_per_row > deck.size() || rows > 1) std::shuffle(deck.begin(), deck.end(), random), dealt = 0;
    for (uint32_t i = 0; i < routes_per_row; ++i) routes.push_back(deck[dealt++]);
  }
  return routes;
}

struct Bench {
  std::unique_ptr<Backend> backend;
  RowPool& pool;
  std::unique_ptr<testing::TestMatrix> table, zeros;  // the input rows; a router, or what is added to
  const uint32_t width;
  Work work;

  Bench(RowPool& weights, const Options& o, uint32_t threads, uint32_t rows)
      : backend(make_cpu_backend({Precision::fast, threads, o.isa})), pool(weights), width(weights.cols()) {
    testing::Random random(1);
    table = testing::f32_matrix(testing::random_floats(random, size_t(64) * width), 64, width);
    work.inputs = rows_of(rows);
  }
  Buffer filled(const testing::TestMatrix& from, uint32_t rows) {
    const Buffer b = backend->add_buffer("filled", from.view.cols, rows);
    work.ops.push_back(Embed{backend->add_weight(from.view), 1.0f, b});
    return b;
  }
};

/// Many different matrices [rows_out, width], each its own op.
void add_dense(Bench& b, uint32_t rows_out, uint32_t rows) {
  const uint32_t width = b.width;
  b.zeros = testing::f32_matrix(testing::Floats(size_t(64) * rows_out), 64, rows_out);
  const Buffer x = b.filled(*b.table, rows), y = b.filled(*b.zeros, rows);
  for (uint32_t i = 0, n = std::min(24u, b.pool.room(rows_out)); i < n; ++i) {
    const Matrix w = b.pool.cut(rows_out, 1);
    b.work.ops.push_back(LinearResidual{x, b.backend->add_weight(w), {}, y});
    b.work.bytes += double(w.bytes());
    b.work.operations += 2.0 * rows_out * width * rows;
  }
}

/// Gate and up of 32 experts, eight layers' worth of routes.
void add_experts(Bench& b, uint32_t rows) {
  const uint32_t width = b.width, layers = rows > 64 ? 2 : 8, count = std::min(experts, b.pool.room(width) / 2);
  const Buffer x = b.filled(*b.table, rows), out = b.backend->add_buffer("out", width * routes_per_row, rows);
  const Buffer routes = b.backend->add_routes(routes_per_row, rows);
  const Matrix gate = b.pool.cut(width, count), up = b.pool.cut(width, count);
  const WeightRef g = b.backend->add_weight(gate), u = b.backend->add_weight(up);
  b.zeros = testing::f32_matrix(testing::Floats(size_t(count) * width), count, width);
  const WeightRef r = b.backend->add_weight(b.zeros->view);
  testing::Random random(3);
  b.work.inputs.forced.experts = deal(random, layers, rows, count);
  for (uint32_t l = 0; l < layers; ++l) {
    b.work.ops.push_back(Router{x, r, {}, count, routes_per_row, l, routes});
    b.work.ops.push_back(ExpertsGateUp{x, routes, g, u, {}, {}, routes_per_row, Activation::swiglu_oai, 1.702f, 7.0f, out});
    const auto chosen = b.work.inputs.forced.experts.begin() + size_t(l) * rows * routes_per_row;
    const std::set<int32_t> distinct(chosen, chosen + size_t(rows) * routes_per_row);
    b.work.bytes += 2.0 * double(distinct.size()) * double(gate.expert_stride);
    b.work.operations += 4.0 * width * width * rows * routes_per_row;
  }
}

/// Seconds of one submission: the median of as many as fit.
double seconds_of(Bench& b, double budget) {
  std::vector<double> times;
  b.backend->submit(b.work.ops, b.work.inputs, nullptr)->wait();
  const auto end = Clock::now() + std::chrono::duration<double>(budget);
  do {
    const auto begin = Clock::now();
    b.backend->submit(b.work.ops, b.work.inputs, nullptr)->wait();
    times.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  } while (Clock::now() < end);
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

void report(const char* shape, DType type, uint32_t threads, uint32_t rows, Bench& b, double budget, const MachineLimits& limits) {
  const double seconds = seconds_of(b, budget), read = b.work.bytes / seconds, rate = b.work.operations / seconds;
  std::printf("%-8s %-6s %u threads %5u rows %8.2f GB/s (%3.0f %%) %8.1f GOP/s (%3.0f %%)\n", shape, std::string(info(type).name).c_str(),
              threads, rows, read / 1e9, 100 * read / limits.read_bytes_per_second, rate / 1e9, 100 * rate / limits.int8_ops_per_second);
  std::fflush(stdout);
}

void run(const Options& o) {
  std::vector<MachineLimits> limits;
  for (uint32_t threads : o.threads) {
    limits.push_back(measure_machine_limits(threads, 1.0));
    std::printf("limits   %u threads: read %.1f GB/s, int8 %.0f GOP/s (%s)\n", threads, limits.back().read_bytes_per_second / 1e9,
                limits.back().int8_ops_per_second / 1e9, limits.back().int8_kernel.c_str());
  }
  std::printf("backend  %s\n", make_cpu_backend({Precision::fast, 1, o.isa})->name().c_str());
  for (const std::string& name : o.types) {
    const auto* type = std::find_if(std::begin(testing::all_types), std::end(testing::all_types), [&](DType t) { return testing::type_name(t) == name; });
    if (type == std::end(testing::all_types) || *type == DType::mxfp4_planes) {
      throw Error(ErrorCode::invalid_request, "There is no type " + name + " here.");
    }
    RowPool pool(*type);
    for (size_t t = 0; t < o.threads.size(); ++t) {
      for (uint32_t rows : o.rows) {
        Bench dense(pool, o, o.threads[t], rows), moe(pool, o, o.threads[t], rows);
        add_dense(dense, 4096, rows);
        report("dense", *type, o.threads[t], rows, dense, o.seconds, limits[t]);
        add_experts(moe, rows);
        report("experts", *type, o.threads[t], rows, moe, o.seconds, limits[t]);
      }
    }
  }
}

template <typename T, typename Convert>
std::vector<T> list(const std::string& text, Convert convert) {
  std::vector<T> values;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) values.push_back(convert(item));
  if (values.empty()) throw Error(ErrorCode::invalid_request, "An empty list.");
  return values;
}

uint32_t count(const std::string& text) {
  const unsigned long value = std::strtoul(text.c_str(), nullptr, 10);
  if (value < 1 || value > most_rows) throw Error(ErrorCode::invalid_request, text + " is not a number from 1 to 2048.");
  return static_cast<uint32_t>(value);
}

Options options(int argc, char** argv) {
  Options o;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--type") o.types = list<std::string>(value, [](const std::string& s) { return s; });
    else if (name == "--rows") o.rows = list<uint32_t>(value, count);
    else if (name == "--threads") o.threads = list<uint32_t>(value, count);
    else if (name == "--isa") o.isa = value;
    else if (name == "--seconds") o.seconds = std::max(0.05, std::strtod(value.c_str(), nullptr));
    else throw Error(ErrorCode::invalid_request, "There is no option " + name + ".");
  }
  if (argc % 2 == 0) throw Error(ErrorCode::invalid_request, "Options come in pairs of name and value.");
  return o;
}

}  // namespace
}  // namespace hearth

int main(int argc, char** argv) {
  try {
    hearth::run(hearth::options(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hearth_kernels: %s\n", error.what());
    return 1;
  }
}
