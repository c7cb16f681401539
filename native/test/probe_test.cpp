// What the probe says of files and of this machine.
#include <gtest/gtest.h>

#include "hearth/probe.h"
#include "test/make/expect_error.h"
#include "test/make/models.h"

namespace hearth {
namespace {

using namespace make;

TEST(Probe, CountsOnlyFullLayersInTheGrowthOfKv) {
  TempFolder folder;
  make::Gguf g = gpt_oss_keys({5});
  Inspection seen = inspect(folder.write("m.gguf", gpt_oss_tensors(g, {5}).bytes()));
  EXPECT_EQ(seen.kv_bytes_per_token, 2u * 1 * 16 * 2 * 2);  // two full layers, one KV head of 16, K and V, f16
  EXPECT_EQ(seen.model.layers, 5u);
  EXPECT_EQ(seen.model.experts, 4u);
  EXPECT_EQ(seen.model.experts_used, 2u);
  EXPECT_EQ(seen.tensors.size(), 3u + 5 * 19);
}

TEST(Probe, IdentifiesAsInspectDoes) {
  TempFolder folder;
  make::Gguf g = llama_keys();
  std::string path = folder.write("m.gguf", llama_tensors(g).bytes());
  ModelInfo info = identify(path);
  Inspection seen = inspect(path);
  EXPECT_EQ(info.model_id, seen.model.model_id);
  EXPECT_EQ(info.path, path);
  EXPECT_EQ(info.file_bytes, std::filesystem::file_size(path));
  EXPECT_EQ(seen.tokenizer.tokens.size(), 8u);
}

TEST(Probe, PlansTheMemoryOfALoadWithoutOne) {
  TempFolder folder;
  make::Gguf g = gpt_oss_keys({5});
  EngineOptions options;
  options.model_path = folder.write("m.gguf", gpt_oss_tensors(g, {5}).bytes());
  const MemoryPlan plan = plan_memory(options);
  EXPECT_EQ(plan.weight_bytes, std::filesystem::file_size(options.model_path));
  EXPECT_EQ(plan.layer_groups.size(), 5u);
  EXPECT_GT(plan.device_scratch_bytes, plan.model.hidden * 4u * plan.prefill_rows);
  EXPECT_LT(plan.row_scratch_bytes, plan.device_scratch_bytes) << "only the first has logits";
  EXPECT_LT(plan.share_scratch_bytes, plan.device_scratch_bytes) << "heads, inner columns and logits are shared out";
  EXPECT_GT(plan.share_scratch_bytes, plan.model.hidden * 4u * plan.prefill_rows) << "the residual is whole everywhere";
  EXPECT_EQ(plan.windows.size(), 2u);  // three layers see a window, two everything
  EXPECT_EQ(plan.block_tokens, 16u);
  EXPECT_EQ(plan.block_bytes_f16, 2u * 3 * 1 * 16 * 16 * 2);  // K and V, the larger group, one head of 16, f16
  EXPECT_LT(plan.block_bytes_q8, plan.block_bytes_f16 * 2 / 3);
  options.prefill_chunk = 1024;
  EXPECT_GT(plan_memory(options).scratch_bytes, plan.scratch_bytes * 3 / 2);
}

TEST(Probe, PassesErrorsOn) {
  TempFolder folder;
  EXPECT_ERROR(ErrorCode::bad_file, "x.gguf", inspect(folder.write("x.gguf", "GGUF")));
}

TEST(Probe, SeesAProcessorWithMemory) {
  Devices found = devices();
  ASSERT_FALSE(found.devices.empty());
  const Device& cpu = found.devices[0];
  EXPECT_EQ(cpu.id, "cpu");
  EXPECT_EQ(cpu.kind, "cpu");
  EXPECT_FALSE(cpu.name.empty());
  EXPECT_GE(cpu.cores, 1u);
  EXPECT_GT(cpu.memory_total, 64u << 20);
  EXPECT_GT(cpu.memory_free, 0u);
  EXPECT_LE(cpu.memory_free, cpu.memory_total);
}

TEST(Probe, NamesItsBuild) { EXPECT_FALSE(engine_build().empty()); }

}  // namespace
}  // namespace hearth
