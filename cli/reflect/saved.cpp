#include "cli/reflect/saved.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/ascii.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "cli/checked_text.hpp"

namespace kubewatch::cli {

namespace {

constexpr std::string_view kSavedMagic = "kubewatch-reflect\n";
constexpr int kVersion = 2;
constexpr int kWithoutChecksum = 1;
constexpr std::size_t kMaxFile = std::size_t{4} << 30U;
constexpr std::size_t kMaxHeader = 16U << 20U;

Json describe(const KindPlan& plan, std::size_t bytes) {
  const core::ResourceType& type = plan.type;
  std::vector<std::string> subresources;
  for (const auto& one : type.subresources) subresources.push_back(one.name);
  Json out = core::to_json(type);
  out.update({{"verbs", type.verbs},
              {"subresources", subresources},
              {"namespace", plan.namespace_},
              {"name", plan.name},
              {"labelSelector", plan.watch.label_selector},
              {"fieldSelector", plan.watch.field_selector},
              {"metadataOnly", plan.watch.content == core::Content::metadata},
              {"managedFields", plan.store.keep_managed_fields},
              {"strip", plan.store.strip},
              {"bytes", bytes}});
  return out;
}

KindPlan plan_of(const Json& saved) {
  KindPlan out;
  core::ResourceType& type = out.type;
  type = core::resource_type_of(saved);
  type.verbs = base::strings_at(saved, {"verbs"});
  for (auto& name : base::strings_at(saved, {"subresources"})) {
    type.subresources.push_back({std::move(name), type.gvk, {}});
  }
  out.namespace_ = base::string_at(saved, {"namespace"});
  out.name = base::string_at(saved, {"name"});
  out.watch.label_selector = base::string_at(saved, {"labelSelector"});
  out.watch.field_selector = base::string_at(saved, {"fieldSelector"});
  if (base::bool_at(saved, {"metadataOnly"})) out.watch.content = core::Content::metadata;
  out.store.keep_managed_fields = base::bool_at(saved, {"managedFields"});
  out.store.strip = base::strings_at(saved, {"strip"});
  return out;
}

// What no server names a kind or a part of it otherwise: they are printed, and lead to URLs.
bool is_name(std::string_view text) {
  return !text.empty() && base::is_alphanumeric(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return base::is_alphanumeric(c) || c == '-' || c == '.'; });
}

bool is_named(const KindPlan& plan) {
  const auto may_lack = [](const std::string& text) { return text.empty() || is_name(text); };
  const core::ResourceType& type = plan.type;
  return is_name(type.plural) && is_name(type.gvk.kind) && may_lack(type.gvk.group) &&
         may_lack(type.gvk.version) && may_lack(type.singular) && may_lack(plan.namespace_);
}

Error damaged(const std::string& what) {
  return Error(ErrorKind::invalid, "the saved cache is " + what);
}

}  // namespace

Result<void> check_snapshot_file(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return {};
  std::ifstream file(path, std::ios::binary);
  std::string begin(kSavedMagic.size(), '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(file.gcount()));
  if (begin.empty() || begin == kSavedMagic) return {};
  return Error(ErrorKind::invalid, path + " is there and is no saved cache: it is not overwritten");
}

Result<void> write_saved(const std::string& path, const client::ServerIdentity& server,
                         const CachedKinds& kinds) {
  std::string parts;
  Json list = Json::array();
  for (const auto& kind : kinds) {
    if (!kind->store().ready()) continue;
    const std::size_t before = parts.size();
    KW_TRY(kind->reflector()
               .save([&](std::string_view bytes) -> Result<void> {
                 parts.append(bytes);
                 return {};
               })
               .with_context("saving " + kind->name()));
    list.push_back(describe(kind->plan(), parts.size() - before));
  }
  const std::string header = base::dump_json({{"version", kVersion},
                                              {"server", server.url},
                                              {"serverMark", server.mark},
                                              {"kinds", std::move(list)}});
  std::string content(kSavedMagic);
  for (int i = 0; i < 4; ++i) content.push_back(static_cast<char>(header.size() >> (8 * i)));
  content += with_checksum(header);
  content += parts;
  return base::write_file_atomic(path, content, 0600);
}

std::string why_foreign(const std::vector<SavedKind>& saved, const client::ServerIdentity& server) {
  for (const auto& one : saved) {
    if (const auto other = client::why_other(one.server, server); !other.empty()) {
      return "saved from " + other;
    }
  }
  return "";
}

Result<std::string> read_saved(const std::string& path) {
  return base::read_file(path, kMaxFile);
}

Result<std::vector<SavedKind>> parse_saved(std::string_view content) {
  if (!content.starts_with(kSavedMagic)) return damaged("not one: it begins otherwise");
  content.remove_prefix(kSavedMagic.size());
  if (content.size() < 4) return damaged("cut short");
  std::size_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    size |= static_cast<std::size_t>(static_cast<unsigned char>(content[i])) << (8 * i);
  }
  content.remove_prefix(4);
  if (size > content.size() || size > kMaxHeader) return damaged("cut short or damaged");
  auto header = base::parse_json(content.substr(0, size));
  if (!header.ok()) return damaged("damaged: " + header.error().message());
  const auto version = base::int_at(*header, {"version"});
  if (version != kVersion && version != kWithoutChecksum) return damaged("of another version");
  if (version == kVersion && !checked_text(content.substr(0, size + kChecksumSize))) {
    return damaged("damaged: the checksum of its header is wrong");
  }
  content.remove_prefix(version == kVersion ? size + kChecksumSize : size);
  const Json* kinds = base::find(*header, {"kinds"});
  if (kinds == nullptr || !kinds->is_array()) return damaged("damaged: it names no kinds");
  std::vector<SavedKind> out;
  for (const auto& one : *kinds) {
    SavedKind saved;
    saved.plan = plan_of(one);
    saved.server = {base::string_at(*header, {"server"}), base::string_at(*header, {"serverMark"})};
    const auto bytes = base::int_at(one, {"bytes"});
    if (!is_named(saved.plan) || !bytes || *bytes < 0 ||
        static_cast<std::uint64_t>(*bytes) > content.size()) {
      return damaged("damaged: a kind in it has no name or no end");
    }
    saved.bytes = content.substr(0, static_cast<std::size_t>(*bytes));
    content.remove_prefix(saved.bytes.size());
    out.push_back(std::move(saved));
  }
  if (!content.empty()) return damaged("damaged: there is more in it than it says");
  return out;
}

}  // namespace kubewatch::cli
