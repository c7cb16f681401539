// Failures prevented: a text that depends on what was found again; prompts read anew that are known; hits across scopes; cached blocks that
// displace requests; damaged files that are believed.
#include <gtest/gtest.h>

#include "test/toy_loop.h"

namespace hearth::testing {
namespace {

TEST(StepLoop, TheSameRequestAgainIsTheSameTextFromTheCache) {
  LoopSetup cold;
  cold.prefix_cache = false;
  for (uint32_t length : {1u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 10u, 11u, 12u, 13u, 126u, 127u, 128u, 129u, 130u, 131u}) {
    Request r = request(1, length, 30, 0.0f);
    const std::vector<TokenId> expected = alone(r, cold);
    LoopHost host;
    for (RequestId id = 1; id <= 4; ++id) {
      r.id = id;
      host.mailbox.submit(r);
      const auto events = host.finished(id);
      EXPECT_EQ(tokens_of(events), expected) << "prompt of " << length << ", time " << id;
      EXPECT_EQ(events.back().cached, id == 1 ? 0 : (length - 1) / block * block);
      EXPECT_EQ(events.back().cache_miss, length <= block ? CacheMiss::too_short : id == 1 ? CacheMiss::no_entry : CacheMiss::none);
    }
  }
}

TEST(StepLoop, ASecondTurnReadsOnlyWhatIsNew) {
  LoopHost host({16, 4, 400, 3000});
  Request first = request(1, 201, 30);
  host.mailbox.submit(first);
  std::vector<TokenId> answer = tokens_of(host.finished(1));
  // As a template without thoughts continues: the whole answer, then something new.
  Request second = first;
  second.id = 2;
  second.prompt.insert(second.prompt.end(), answer.begin(), answer.end());
  for (TokenId t = 0; t < 20; ++t) second.prompt.push_back(t);
  const uint64_t read = host.loop->stats().prompt_tokens;
  host.mailbox.submit(second);
  const auto events = host.finished(2);
  EXPECT_LE(host.loop->stats().prompt_tokens - read, 20u + 1 + block);
  EXPECT_GE(events.back().cached, 201u + 29 - block);
  EXPECT_EQ(host.loop->stats().cached_tokens, events.back().cached);
  // As harmony continues: the answer is written anew after the last message's end.
  Request third = first;
  third.id = 3;
  third.prompt.push_back(44);
  for (TokenId t = 0; t < 20; ++t) third.prompt.push_back(t);
  host.mailbox.submit(third);
  EXPECT_EQ(host.finished(3).back().cached, 200u);
  third.id = 4;
  EXPECT_EQ(tokens_of(host.events[3]), alone(third, {16, 4, 400, 3000}));
}

/// Where answers are written by another device than prompts are read on, a prompt is never given what was written.
TEST(StepLoop, OfAnAnswerThatWasWrittenElsewhereNothingIsFoundAgain) {
  LoopSetup setup{16, 4, 400, 3000};
  setup.cache_answers = false;
  LoopHost host(setup);
  Request first = request(1, 201, 100);
  host.mailbox.submit(first);
  const std::vector<TokenId> answer = tokens_of(host.finished(1));
  Request second = first;
  second.id = 2;
  second.prompt.insert(second.prompt.end(), answer.begin(), answer.end());
  host.mailbox.submit(second);
  EXPECT_EQ(host.finished(2).back().cached, 200u);
  EXPECT_EQ(tokens_of(host.events[2]), alone(second, setup));
  second.id = 3;
  host.mailbox.submit(second);
  EXPECT_GE(host.finished(3).back().cached, 296u) << "what was read is found";
}

TEST(StepLoop, AnEditedHistoryIsReadAgainFromTheLastCutBeforeIt) {
  LoopSetup small{16, 4, 66, 300};
  LoopHost host(small);
  Request r = request(1, 200, 5);
  r.cut_points = {81, 150, 200};
  host.mailbox.submit(r);
  host.finished(1);
  r.id = 2;
  r.prompt[160] = 44;
  host.mailbox.submit(r);
  EXPECT_EQ(host.finished(2).back().cached, 148u);
  EXPECT_EQ(host.events[2].back().cache_miss, CacheMiss::window_gone);
  // Where the texts parted has become a cut.
  r.id = 3;
  r.prompt[161] = 43;
  host.mailbox.submit(r);
  EXPECT_EQ(host.finished(3).back().cached, 160u);
  r.id = 4;
  r.prompt[100] = 44;
  host.mailbox.submit(r);
  EXPECT_EQ(host.finished(4).back().cached, 80u);
}

/// Without any boundary that the renderer gave, in a pool that has no room for windows nobody keeps.
TEST(StepLoop, ALongTextThatIsEditedIsNotReadAgainFromItsBeginning) {
  LoopHost host({64, 4, 1540, 6200});
  Request r = request(1, 6000, 2);
  host.mailbox.submit(r);
  host.finished(1);
  r.id = 2;
  r.prompt[4500] = 44;
  host.mailbox.submit(r);
  EXPECT_EQ(host.finished(2).back().cached, 4096u);
}

TEST(StepLoop, NothingIsFoundAcrossScopesNorWhereTheCacheIsNotWanted) {
  LoopHost host;
  Request r = request(1, 50, 5);
  r.cache_scope = "one";
  host.mailbox.submit(r);
  const auto text = tokens_of(host.finished(1));
  const auto again = [&](RequestId id, const std::string& scope, bool use_cache = true) {
    r.id = id;
    r.cache_scope = scope;
    r.use_cache = use_cache;
    host.mailbox.submit(r);
    const auto events = host.finished(id);
    EXPECT_EQ(tokens_of(events), text);
    return events.back();
  };
  EXPECT_EQ(again(2, "two").cached, 0u);
  EXPECT_EQ(host.events[2].back().cache_miss, CacheMiss::other_scope);
  EXPECT_EQ(again(3, "one").cached, 48u);
  EXPECT_EQ(again(4, "two").cached, 48u);
  EXPECT_EQ(again(5, "").cached, 0u);
  EXPECT_EQ(again(6, "one", false).cached, 0u);
  EXPECT_EQ(host.events[6].back().cache_miss, CacheMiss::not_wanted);
  r.prompt[0] ^= 1;
  r.id = 7;
  host.mailbox.submit(r);
  host.finished(7);
  r.use_cache = true;
  r.id = 8;
  host.mailbox.submit(r);
  EXPECT_EQ(host.finished(8).back().cached, 0u) << "a request that does not want the cache has filled it";
}

TEST(StepLoop, PromptsThatAreScoredAreComputed) {
  LoopHost host;
  Request r = request(1, 50, 1);
  host.mailbox.submit(r);
  host.finished(1);
  r.id = 2;
  r.prompt_logprobs = true;
  r.sampling.logprobs = 0;
  host.mailbox.submit(r);
  const auto events = host.finished(2);
  EXPECT_EQ(events.back().cached, 0u);
  EXPECT_EQ(host.loop->stats().prompt_tokens, 100u);
}

TEST(StepLoop, CachedBlocksGiveWayBeforeARequestDoes) {
  LoopHost host({16, 4, 60, 300});
  for (RequestId id = 1; id <= 12; ++id) {
    host.mailbox.submit(request(id, 60, 40));
    EXPECT_EQ(tokens_of(host.finished(id)), alone(request(id, 60, 40)));
  }
  EXPECT_EQ(host.loop->stats().preemptions, 0u);
  EXPECT_GT(host.loop->stats().blocks_cached, 30u);
  EXPECT_EQ(host.loop->stats().blocks_used, 0u);
}

/// Requests with common beginnings in a pool that is too small, at once: shared blocks are counted right, nobody hangs.
TEST(StepLoop, SharedBeginningsUnderPreemptionDoNotChangeTheText) {
  std::map<RequestId, std::vector<TokenId>> expected;
  const auto shared = [](RequestId id) {
    Request r = request(id, 20 + 3 * uint32_t(id), 40);
    const Request base = request(100 + id % 2, 60, 1);
    std::copy_n(base.prompt.begin(), 12 + id, r.prompt.begin());
    r.priority = int32_t(id % 3);
    return r;
  };
  for (RequestId id = 1; id <= 10; ++id) expected[id] = alone(shared(id));
  for (uint32_t blocks : {200u, 60u, 45u, 36u}) {
    LoopHost host({8, 4, blocks});
    for (int round = 0; round < 3; ++round) {
      for (RequestId id = 1; id <= 10; ++id) host.mailbox.submit(shared(id));
      for (RequestId id = 1; id <= 10; ++id) EXPECT_EQ(tokens_of(host.finished(id)), expected[id]) << "blocks " << blocks;
      std::lock_guard lock(host.mutex);
      host.events.clear();
    }
    EXPECT_EQ(host.blocks_in_use(), 0u);
    EXPECT_GT(host.loop->stats().cached_tokens, 0u);
  }
}

/// A folder that is gone when the test ends.
struct Folder {
  explicit Folder(const char* name) : path(std::filesystem::temp_directory_path() / name) { std::filesystem::remove_all(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  uint32_t files() const {
    const std::filesystem::recursive_directory_iterator all(path);
    return uint32_t(std::count_if(begin(all), end(all), [](const auto& each) { return each.path().extension() == ".kv"; }));
  }
  std::filesystem::path path;
};

/// Answers the request with a loop of its own that lives until so many files are there.
std::vector<TokenId> stored(const Folder& folder, const LoopSetup& setup, const Request& r, uint32_t files) {
  LoopHost host(setup);
  host.mailbox.submit(r);
  const std::vector<TokenId> text = tokens_of(host.finished(r.id));
  for (int i = 0; i < 400 && folder.files() < files; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return text;
}

TEST(StepLoop, ARestartFindsWhatWasReadBefore) {
  const Folder folder("hearth_step_loop_restart");
  LoopSetup setup;
  setup.disk_folder = folder.path.string();
  Request r = request(1, 150, 30);
  const std::vector<TokenId> expected = alone(r);
  EXPECT_EQ(stored(folder, setup, r, 46), expected);
  {
    LoopHost host(setup);
    host.mailbox.submit(r);
    const auto events = host.finished(1);
    EXPECT_EQ(tokens_of(events), expected);
    EXPECT_EQ(events.back().cached, 148u);
    EXPECT_GE(host.loop->stats().blocks_fetched, 37u);
    r.id = 2;
    r.cache_scope = "other";
    host.mailbox.submit(r);
    EXPECT_EQ(host.finished(2).back().cached, 0u);
  }
  // A file that was cut, altered or removed is a miss: what comes before it is found, and the text stays the same.
  r.id = 1;
  r.cache_scope = "";
  int files = 0;
  for (const auto& each : std::filesystem::recursive_directory_iterator(folder.path)) {
    if (!each.is_regular_file() || ++files % 7 != 0) continue;
    if (files % 3 == 0) std::filesystem::remove(each.path());
    else std::filesystem::resize_file(each.path(), files % 2 ? 70 : 0);
  }
  EXPECT_GT(files, 40);
  LoopHost host(setup);
  host.mailbox.submit(r);
  EXPECT_EQ(tokens_of(host.finished(1)), expected);
  EXPECT_LT(host.events[1].back().cached, 148u);
}

/// Of two prompts that are on the disk the shorter is not kept waiting until the longer is up, nor is one that has nothing there.
TEST(StepLoop, AShortPromptDoesNotWaitForTheLongFetchOfAnother) {
  const Folder folder("hearth_step_loop_fetch");
  LoopSetup setup{16, 4, 2000, 3000};
  setup.disk_folder = folder.path.string();
  Request book = request(1, 800, 3), note = request(2, 60, 3);
  // Full blocks, and three of a window.
  const auto book_text = stored(folder, setup, book, 203), note_text = stored(folder, setup, note, 203 + 18);
  LoopHost host(setup);
  host.backend.microseconds_per_written_block = 3000;
  host.mailbox.submit(book);
  host.mailbox.submit(note);
  host.mailbox.submit(request(3, 12, 3));
  const auto end_of = [&](RequestId id) { return host.finished(id).back().at; };
  const auto book_end = end_of(1);
  EXPECT_LT(end_of(2), book_end);
  EXPECT_LT(end_of(3), book_end);
  EXPECT_EQ(tokens_of(host.finished(1)), book_text);
  EXPECT_EQ(tokens_of(host.finished(2)), note_text);
  EXPECT_GT(host.finished(1).back().cached, 400u) << "there was no long fetch: the test shows nothing";
  EXPECT_EQ(host.finished(2).back().cached, 56u);
}

TEST(StepLoop, BlocksThatLeaveThePoolComeBackFromPlainMemory) {
  LoopSetup setup{16, 4, 70, 300};
  setup.host_bytes = 1 << 20;
  LoopHost host(setup);
  for (int round = 0; round < 2; ++round) {
    for (RequestId id = 1; id <= 6; ++id) {
      Request r = request(id, 100, 20);
      const std::vector<TokenId> expected = alone(r);
      r.id += 100 * RequestId(round);
      host.mailbox.submit(r);
      EXPECT_EQ(tokens_of(host.finished(r.id)), expected);
      EXPECT_EQ(host.events[r.id].back().cached, round == 0 ? 0u : 96u);
    }
  }
  EXPECT_GT(host.loop->stats().blocks_fetched, 100u);
}

}  // namespace
}  // namespace hearth::testing
