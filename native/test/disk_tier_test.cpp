// Failures prevented: a torn, altered or foreign file taken for a block; an error where a miss would do; files that others
// can read; a folder that grows without bound; a writer that blocks the engine.
#include "cache/disk_tier.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>

#ifndef _WIN32
#include <sys/resource.h>
#include <csignal>
#endif

#include "cache/host_tier.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
constexpr size_t block_bytes = 1000;

class DiskTierTest : public testing::Test {
 protected:
  DiskTierTest() : folder(fs::temp_directory_path() / "hearth_disk_tier_test") { fs::remove_all(folder); }
  ~DiskTierTest() override { fs::remove_all(folder); }

  std::unique_ptr<DiskTier> open(uint64_t bytes = 1 << 20, std::function<void()> drained = {}) {
    DiskTierOptions options;
    options.folder = folder;
    options.most_bytes = bytes;
    options.queue_bytes = 10 * block_bytes;
    options.drained = std::move(drained);
    return std::make_unique<DiskTier>(std::move(options));
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& each : fs::recursive_directory_iterator(folder)) {
      if (each.is_regular_file()) found.push_back(each.path());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  fs::path folder;
};

BlockName name(uint32_t n, uint32_t group = 0) {
  BlockName name;
  name.key[0] = std::byte(n), name.key[31] = std::byte(n / 256 + 1);
  name.group = group;
  return name;
}

std::vector<std::byte> block(uint32_t n) {
  std::vector<std::byte> bytes(block_bytes);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte(n * 7 + i * 13 + i / 256);
  return bytes;
}

void store(DiskTier& tier, uint32_t from, uint32_t to) {
  for (uint32_t n = from; n < to; ++n) {
    while (!tier.offer(name(n), "scope", n, block(n))) tier.flush(std::chrono::milliseconds(100));
  }
  tier.flush(std::chrono::seconds(10));
}

bool reads(DiskTier& tier, uint32_t n) {
  std::vector<std::byte> out(block_bytes);
  if (!tier.read(name(n), n, out)) return false;
  EXPECT_EQ(out, block(n));
  return true;
}

TEST_F(DiskTierTest, BlocksOutliveTheProcessAndAreTheOwnersAlone) {
  store(*open(), 0, 30);
  const auto tier = open();
  for (uint32_t n = 0; n < 30; ++n) EXPECT_TRUE(reads(*tier, n));
  EXPECT_FALSE(tier->has(name(30)));
  EXPECT_FALSE(tier->has(name(3, 1)));
  EXPECT_EQ(tier->bytes(), 30 * (block_bytes + 64));
  for (const fs::path& file : files()) {
    EXPECT_EQ(file.parent_path().filename(), "scope");
#ifndef _WIN32
    EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(fs::status(file.parent_path()).permissions(), fs::perms::owner_all);
#endif
  }
}

TEST_F(DiskTierTest, WhateverIsWrongWithAFileIsAMiss) {
  store(*open(), 0, 8);
  const auto all = files();
  ASSERT_EQ(all.size(), 8u);
  fs::resize_file(all[0], 0);
  fs::resize_file(all[1], 500);
  fs::resize_file(all[2], block_bytes + 65);
  { std::fstream(all[3], std::ios::in | std::ios::out | std::ios::binary).seekp(400).put(char(0x55)).put(char(0x55)); }
  { std::fstream(all[4], std::ios::in | std::ios::out | std::ios::binary).put('X'); }
  fs::copy_file(all[7], all[5], fs::copy_options::overwrite_existing);  // another block's bytes
  const auto tier = open();
  fs::remove(all[6]);  // while it is open
  std::vector<std::byte> out(block_bytes);
  for (uint32_t n = 0; n < 7; ++n) {
    EXPECT_FALSE(reads(*tier, n)) << n;
    EXPECT_FALSE(tier->has(name(n))) << "a broken block is offered again";
  }
  EXPECT_TRUE(reads(*tier, 7));
  std::vector<std::byte> other_size(block_bytes + 1);
  EXPECT_FALSE(tier->read(name(7), 7, other_size));
  store(*tier, 0, 8);
  for (uint32_t n = 0; n < 8; ++n) EXPECT_TRUE(reads(*tier, n));
}

TEST_F(DiskTierTest, WhatAWriterLeftHalfDoneAndOtherVersionsAreRemoved) {
  store(*open(), 0, 2);
  std::ofstream(files()[0].parent_path() / "0123.kv.part") << "half";
  std::ofstream(files()[0].parent_path() / "notes.txt") << "?";
  fs::create_directories(folder / "v0");
  std::ofstream(folder / "v0" / "old") << "old";
  const auto tier = open();
  EXPECT_EQ(files().size(), 2u);
  EXPECT_TRUE(reads(*tier, 0));
}

TEST_F(DiskTierTest, ACopiedFolderIsNotCountedTwice) {
  store(*open(), 0, 10);
  fs::copy(folder / "v1" / "scope", folder / "v1" / "scope copy");
  for (const auto& each : fs::directory_iterator(folder / "v1" / "scope copy")) {
    fs::last_write_time(each.path(), fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  const auto tier = open(12 * (block_bytes + 64));
  EXPECT_EQ(tier->bytes(), 10 * (block_bytes + 64));
  store(*tier, 10, 30);  // every old file has had its turn
  EXPECT_LE(tier->bytes(), 12 * (block_bytes + 64));
  EXPECT_TRUE(reads(*tier, 29));
}

TEST_F(DiskTierTest, OnlyFoldersOfOtherVersionsAreRemoved) {
  fs::create_directories(folder / "v0" / "scope");
  fs::create_directories(folder / "videos");
  open();
  EXPECT_FALSE(fs::exists(folder / "v0"));
  EXPECT_TRUE(fs::exists(folder / "videos"));
}

TEST_F(DiskTierTest, StaysInItsBoundAndGivesUpTheOldestAndDeepest) {
  constexpr uint64_t file = block_bytes + 64;
  {
    const auto tier = open(20 * file);
    store(*tier, 0, 40);
    EXPECT_LE(tier->bytes(), 20 * file);
    EXPECT_EQ(files().size(), 20u);
    for (uint32_t n = 20; n < 40; ++n) EXPECT_TRUE(tier->has(name(n))) << n;
  }
  const auto tier = open(20 * file);
  // All are used again, at one time as far as a clock tells: what is deeper in the text goes first.
  for (uint32_t n = 20; n < 40; ++n) EXPECT_TRUE(reads(*tier, n));
  std::vector<std::byte> out(block_bytes);
  EXPECT_TRUE(tier->read(name(20), 1'000'000, out));  // as if it were a second older
  store(*tier, 50, 51);
  EXPECT_FALSE(tier->has(name(20)));
  EXPECT_TRUE(tier->has(name(39)));
  EXPECT_EQ(open(5 * file)->bytes(), 5 * file);
}

TEST_F(DiskTierTest, AFolderThatCannotBeWrittenIsAnEmptyTier) {
  std::ofstream(folder) << "a file where the folder should be";
  const auto tier = open();
  for (uint32_t n = 0; n < 20; ++n) {
    EXPECT_TRUE(tier->offer(name(n), "scope", n, block(n)));
    tier->flush(std::chrono::seconds(1));
  }
  EXPECT_FALSE(tier->has(name(0)));
  EXPECT_FALSE(reads(*tier, 0));
}

#ifndef _WIN32
/// The system cuts a file off, as a full disk does: nothing half written stays, and once there is room blocks are kept again.
TEST_F(DiskTierTest, AFullDiskLeavesNoHalfFileAndIsTriedAgain) {
  const auto tier = open();
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 500;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  store(*tier, 0, 4);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(files().empty());
  EXPECT_EQ(tier->bytes(), 0u);
  for (uint32_t n = 0; n < 4; ++n) EXPECT_FALSE(reads(*tier, n)) << n;
  store(*tier, 0, 4);
  for (uint32_t n = 0; n < 4; ++n) EXPECT_TRUE(reads(*tier, n)) << n;
}

TEST_F(DiskTierTest, LinksLeadNowhere) {
  store(*open(), 0, 2);
  const fs::path outside = fs::temp_directory_path() / "hearth_disk_tier_test_outside";
  fs::create_directories(outside);
  std::ofstream(outside / "letter") << std::string(block_bytes + 64, 'x');
  const fs::path file = files()[0];
  fs::remove(file);
  fs::create_symlink(outside / "letter", file);
  fs::create_directory_symlink(outside, folder / "v1" / "linked");
  fs::create_directory_symlink(outside, folder / "v0");
  {
    const auto tier = open();
    EXPECT_FALSE(reads(*tier, 0));
    EXPECT_TRUE(reads(*tier, 1));
    store(*tier, 0, 1);
    EXPECT_TRUE(reads(*tier, 0));
  }
  EXPECT_EQ(fs::file_size(outside / "letter"), block_bytes + 64);
  EXPECT_FALSE(fs::exists(fs::symlink_status(folder / "v0")));
  fs::remove_all(outside);
}
#endif

TEST_F(DiskTierTest, AFullQueueIsToldAndItsEndToo) {
  std::atomic<int> drained{0};
  const auto tier = open(1 << 22, [&] { ++drained; });
  bool refused = false;
  for (uint32_t n = 0; n < 2000 && !refused; ++n) refused = !tier->offer(name(n), "scope", n, block(n));
  ASSERT_TRUE(refused);
  tier->flush(std::chrono::seconds(10));
  for (int i = 0; i < 1000 && drained == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(drained, 1);
}

TEST(HostTier, KeepsWhatWasUsedLastWithinItsBound) {
  HostTier tier(3 * block_bytes);
  std::vector<std::byte> out(block_bytes);
  for (uint32_t n = 0; n < 3; ++n) tier.put(name(n), block(n));
  EXPECT_TRUE(tier.read(name(0), out));
  EXPECT_EQ(out, block(0));
  tier.put(name(3), block(3));
  EXPECT_FALSE(tier.has(name(1)));
  EXPECT_TRUE(tier.has(name(0)));
  EXPECT_EQ(tier.bytes(), 3 * block_bytes);
  std::vector<std::byte> other_size(block_bytes + 1);
  EXPECT_FALSE(tier.read(name(0), other_size));
}

}  // namespace
}  // namespace hearth
