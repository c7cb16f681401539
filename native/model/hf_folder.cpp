// Finding and reading the files of a Hugging Face folder; see hf_folder.h.
#include "model/hf_folder.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "model/json.h"
#include "model/paths.h"
#include "model/words.h"

namespace hearth {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t most_config_bytes = 4 << 20;
constexpr uint64_t most_text_bytes = 64 << 20;
constexpr size_t most_shards = 4096;

std::string inside(const std::string& folder, const std::string& name) {
  return utf8_of(path_of(folder) / path_of(name));
}

bool is_file(const std::string& folder, const std::string& name) {
  std::error_code error;
  return fs::is_regular_file(path_of(folder) / path_of(name), error);
}

/// A small text file; nullopt when it is not there.
std::optional<std::string> read_text(const std::string& folder, const std::string& name, uint64_t most) {
  if (!is_file(folder, name)) return std::nullopt;
  auto file = MappedFile::open(inside(folder, name));
  if (file->bytes().size() > most) {
    fail(ErrorCode::bad_file, name, " has ", file->bytes().size(), " bytes, at most ", most, " are read");
  }
  return std::string(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
}

/// NAME-00002-of-00005.safetensors: the part before the number, and the count; nullopt for other names.
struct ShardName {
  std::string stem;
  uint64_t count = 0;
};
std::optional<ShardName> shard_name(const std::string& name) {
  constexpr std::string_view pattern = "-#####-of-#####.safetensors";
  if (name.size() < pattern.size()) return std::nullopt;
  size_t at = name.size() - pattern.size();
  for (size_t i = 0; i < pattern.size(); ++i) {
    bool digit = std::isdigit(static_cast<unsigned char>(name[at + i])) != 0;
    if (pattern[i] == '#' ? !digit : name[at + i] != pattern[i]) return std::nullopt;
  }
  return ShardName{name.substr(0, at), std::stoull(name.substr(at + 10, 5))};
}

std::string numbered(const ShardName& shard, uint64_t number) {
  std::string digits = std::to_string(number), count = std::to_string(shard.count);
  return shard.stem + "-" + std::string(5 - digits.size(), '0') + digits + "-of-" + std::string(5 - count.size(), '0') +
         count + ".safetensors";
}

void refuse_missing(const std::string& folder, const std::vector<std::string>& names) {
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    if (!is_file(folder, name)) missing.push_back(shown(name));
  }
  if (missing.empty()) return;
  fail(ErrorCode::incomplete_model, file_name(folder), ": ", missing.size(), " of ", names.size(),
       missing.size() == 1 ? " weight files is missing: " : " weight files are missing: ", list_words(missing, 4));
}

/// The set of shards that `chosen` (or, when "", the folder's only model) belongs to, without an index to say so.
std::vector<std::string> shards_by_name(const std::string& folder, const std::string& chosen) {
  std::vector<std::string> all = files_ending(folder, ".safetensors");
  std::string first = chosen;
  if (first.empty() && is_file(folder, "model.safetensors")) first = "model.safetensors";
  if (first.empty()) {
    std::set<std::string> models;
    for (const std::string& name : all) {
      auto shard = shard_name(name);
      models.insert(shard ? numbered(*shard, 1) : name);
    }
    if (models.empty())
      fail(ErrorCode::incomplete_model, file_name(folder), ": the weights (*.safetensors) are missing");
    if (models.size() > 1) {
      fail(ErrorCode::bad_file, file_name(folder),
           " holds several models: ", list_words({models.begin(), models.end()}, 4), "; choose one of the files");
    }
    first = *models.begin();
  }
  auto shard = shard_name(first);
  if (!shard || shard->count <= 1 || shard->count > most_shards) return {first};
  std::vector<std::string> names;
  for (uint64_t n = 1; n <= shard->count; ++n) names.push_back(numbered(*shard, n));
  return names;
}

std::vector<std::string> find_shards(const std::string& folder, const std::string& chosen) {
  const std::string index = "model.safetensors.index.json";
  std::vector<std::string> names;
  if (auto text = read_text(folder, index, most_text_bytes)) {
    std::set<std::string> files = read_shard_index(*text, index);
    if (chosen.empty() || files.contains(chosen)) names.assign(files.begin(), files.end());
  }
  if (names.empty()) names = shards_by_name(folder, chosen);
  refuse_missing(folder, names);
  return names;
}

/// `license: apache-2.0` in the front matter of a model card.
std::string read_license(const std::string& folder) {
  std::optional<std::string> card;
  try {
    card = read_text(folder, "README.md", most_config_bytes);
  } catch (const Error&) {
    return "";
  }
  if (!card || !card->starts_with("---")) return "";
  size_t end = card->find("\n---", 3);
  size_t at = card->find("\nlicense:");
  if (at == std::string::npos || end == std::string::npos || at > end) return "";
  std::string line = card->substr(at + 9, card->find('\n', at + 1) - at - 9);
  size_t begin = line.find_first_not_of(" \t\"'");
  size_t last = line.find_last_not_of(" \t\r\"'");
  return begin == std::string::npos ? "" : shown(line.substr(begin, last - begin + 1));
}

}  // namespace

std::set<std::string> read_shard_index(const std::string& text, const std::string& name) {
  if (!valid_utf8(text)) fail(ErrorCode::bad_file, name, " is not valid: it is no UTF-8 text");
  JsonCursor in(text, name);
  std::set<std::string> files;
  bool has_map = false;
  in.enter_object();
  std::string key, tensor;
  while (in.next_member(key)) {
    if (key != "weight_map") {
      in.skip();
      continue;
    }
    has_map = true;
    in.enter_object();
    while (in.next_member(tensor)) {
      std::string file = in.string();
      bool plain =
          file.find_first_of(std::string_view("/\\:\0", 4)) == std::string::npos && file.ends_with(".safetensors");
      if (!plain)
        fail(ErrorCode::bad_file, name, ": weight_map names ", shown(file),
             ", which is no safetensors file of this folder");
      files.insert(std::move(file));
      if (files.size() > most_shards) fail(ErrorCode::bad_file, name, " names more than ", most_shards, " files");
    }
  }
  in.finish();
  if (!has_map || files.empty()) fail(ErrorCode::bad_file, name, " has no weight_map");
  return files;
}

std::vector<std::string> files_ending(const std::string& path, const std::string& end) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator at(path_of(path), error), none; !error && at != none; at.increment(error)) {
    std::string name = utf8_of(at->path().filename());
    if (name.ends_with(end) && is_file(path, name)) out.push_back(std::move(name));
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool is_hf_folder(const std::string& path) {
  return is_file(path, "config.json") || !files_ending(path, ".safetensors").empty();
}

HfFolder read_hf_folder(const std::string& path, const std::string& chosen) {
  HfFolder out;
  out.path = path;
  std::error_code error;
  out.name = shown(utf8_of(fs::weakly_canonical(path_of(path), error).filename()));
  // The chosen file first: what is wrong with it matters more than what is missing around it.
  if (!chosen.empty()) parse_safetensors(MappedFile::open(inside(path, chosen))->bytes(), shown(chosen));
  out.config = read_text(path, "config.json", most_config_bytes);
  if (!out.config) {
    fail(ErrorCode::incomplete_model, "config.json is missing beside ",
         chosen.empty() ? "the weights of " + out.name : shown(chosen));
  }
  for (const std::string& shard : find_shards(path, chosen)) {
    auto file = MappedFile::open(inside(path, shard));
    Safetensors safetensors = parse_safetensors(file->bytes(), file->name());
    out.shards.push_back({std::move(file), std::move(safetensors)});
  }
  out.generation_config = read_text(path, "generation_config.json", most_config_bytes);
  out.tokenizer_config = read_text(path, "tokenizer_config.json", most_text_bytes);
  out.chat_template = read_text(path, "chat_template.jinja", most_config_bytes);
  if (is_file(path, "tokenizer.json")) out.tokenizer_json = inside(path, "tokenizer.json");
  out.license = read_license(path);
  return out;
}

}  // namespace hearth
