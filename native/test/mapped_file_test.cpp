// A model file that shrinks, vanishes or never was a file must end in an error, not in a dead process.
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "model/mapped_file.h"
#include "model/model_file.h"
#include "test/make/expect_error.h"
#include "test/make/models.h"

namespace hearth {
namespace {

using namespace make;

unsigned sum(std::span<const std::byte> bytes) {
  unsigned total = 0;
  for (std::byte b : bytes) total += std::to_integer<unsigned>(b);
  return total;
}

TEST(MappedFile, ShowsTheBytes) {
  TempFolder folder;
  auto file = MappedFile::open(folder.write("a.bin", "hello"));
  EXPECT_EQ(file->bytes().size(), 5u);
  EXPECT_EQ(file->name(), "a.bin");
  EXPECT_TRUE(file->still_whole());
  EXPECT_EQ(sum(file->bytes()), unsigned('h' + 'e' + 'l' + 'l' + 'o'));
}

TEST(MappedFile, AnEmptyFileIsEmpty) {
  TempFolder folder;
  EXPECT_TRUE(MappedFile::open(folder.write("e", ""))->bytes().empty());
}

TEST(MappedFile, NamesWhatIsNotThere) {
  TempFolder folder;
  EXPECT_ERROR(ErrorCode::file_not_found, "no file nowhere.gguf", MappedFile::open(folder.path("nowhere.gguf")));
  EXPECT_ERROR(ErrorCode::bad_file, "not a regular file", MappedFile::open(folder.path()));
}

#ifndef _WIN32
TEST(MappedFile, ReadingPastAShrunkEndGivesZerosAndAnErrorNotASignal) {
  TempFolder folder;
  std::string path = folder.write("s.bin", std::string(1 << 20, 'x'));
  auto file = MappedFile::open(path);
  std::filesystem::resize_file(path, 4096);
  EXPECT_EQ(sum(file->bytes()), 4096u * 'x');
  EXPECT_FALSE(file->still_whole());
  EXPECT_ERROR(ErrorCode::bad_file, "s.bin became shorter on disk", file->check_whole());
}

TEST(MappedFile, ShrinkingIsSeenWithoutTouchingAPage) {
  TempFolder folder;
  std::string path = folder.write("s.bin", std::string(5000, 'x'));
  auto file = MappedFile::open(path);
  std::filesystem::resize_file(path, 4999);
  EXPECT_FALSE(file->still_whole());
}

TEST(MappedFile, AReplacedFileKeepsItsOldBytes) {
  TempFolder folder;
  std::string path = folder.write("r.bin", "old"), next = folder.write("next.bin", "new!");
  auto file = MappedFile::open(path);
  std::filesystem::rename(next, path);
  EXPECT_TRUE(file->still_whole());
  EXPECT_EQ(sum(file->bytes()), unsigned('o' + 'l' + 'd'));
}

TEST(MappedFile, AnOpenModelReportsItsShrunkFile) {
  TempFolder folder;
  make::Gguf g = llama_keys();
  std::string path = folder.write("m.gguf", llama_tensors(g).bytes());
  ModelFile model = open_model(path);
  EXPECT_NO_THROW(check_whole(model));
  std::filesystem::resize_file(path, 100);
  EXPECT_ERROR(ErrorCode::bad_file, "m.gguf became shorter", check_whole(model));
}
#endif

TEST(OpenModel, NamesWhatIsNoModel) {
  TempFolder folder;
  EXPECT_ERROR(ErrorCode::file_not_found, "There is no file or folder gone.gguf", open_model(folder.path("gone.gguf")));
  EXPECT_ERROR(ErrorCode::file_not_found, "There is no model in the folder", open_model(folder.path()));
  EXPECT_ERROR(ErrorCode::bad_file, "neither a GGUF nor a safetensors", open_model(folder.write("a.txt", "hello")));
  EXPECT_ERROR(ErrorCode::bad_file, "ZIP archive", open_model(folder.write("m.bin", "PK\3\4....")));
  EXPECT_ERROR(ErrorCode::bad_file, "empty", open_model(folder.write("e.gguf", "")));
  folder.write("sub/a.gguf", "GGUF");
  folder.write("sub/b.gguf", "GGUF");
  EXPECT_ERROR(ErrorCode::bad_file, "several models: a.gguf and b.gguf", open_model(folder.path("sub")));
}

}  // namespace
}  // namespace hearth
