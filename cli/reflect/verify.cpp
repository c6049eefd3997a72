#include "cli/reflect/verify.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "cli/exit_code.hpp"

namespace kubewatch::cli {

namespace {

constexpr std::size_t kShownValue = 60;

std::string shown(const Json* value, bool hidden) {
  if (value == nullptr) return "nothing";
  if (hidden) return "***";
  std::string text = base::dump_json(*value);
  if (text.size() > kShownValue) text = text.substr(0, kShownValue) + "...";
  return base::escape_for_terminal(text);
}

// Of a Secret nothing below data and stringData is shown, nor what kubectl keeps of it.
bool hides(const std::string& path, bool secret) {
  return secret && (path.starts_with(".data") || path.starts_with(".stringData") ||
                    path.starts_with(".metadata.annotations"));
}

const Json* member(const Json& object, const std::string& key) {
  const auto it = object.find(key);
  return it == object.end() ? nullptr : &*it;
}

class FieldDiff {
 public:
  FieldDiff(bool secret, std::size_t most) : secret_(secret), most_(most) {}
  void compare(const std::string& path, const Json* here, const Json* there) {
    if (out.size() >= most_ || (here != nullptr && there != nullptr && *here == *there)) return;
    if (here != nullptr && there != nullptr && here->is_object() && there->is_object()) {
      std::set<std::string> keys;
      for (const auto& [key, value] : here->items()) keys.insert(key);
      for (const auto& [key, value] : there->items()) keys.insert(key);
      for (const auto& key : keys) {
        compare(path + "." + key, member(*here, key), member(*there, key));
      }
      return;
    }
    const bool hidden = hides(path, secret_);
    out.push_back(fmt::format("{}: {} here, {} on the server",
                              base::escape_for_terminal(path.empty() ? "." : path),
                              shown(here, hidden), shown(there, hidden)));
  }
  std::vector<std::string> out;

 private:
  bool secret_;
  std::size_t most_;
};

const char* word_of(Drift::What what) {
  switch (what) {
    case Drift::What::missing: return "missing here";
    case Drift::What::surplus: return "not on the server";
    case Drift::What::different: break;
  }
  return "different";
}

runtime::StoreOptions same_make(const CachedKind& kind) {
  runtime::StoreOptions out = kind.plan().store;
  out.type = kind.type().gvk;
  out.content = kind.content();
  return out;
}

}  // namespace

std::vector<std::string> differing_fields(const std::string& cache, const std::string& server,
                                          bool secret, std::size_t most) {
  const auto here = base::parse_json(cache);
  const auto there = base::parse_json(server);
  if (!here.ok() || !there.ok()) return {".: no JSON"};
  FieldDiff diff(secret, most);
  diff.compare("", &*here, &*there);
  return diff.out;
}

std::vector<Drift> compare_states(const core::ReadState& cache, const runtime::Store& server,
                                  bool secret, std::size_t unnamed) {
  std::vector<Drift> out;
  for (const auto& key : cache.select({}, std::nullopt)) {
    const auto here = cache.json(key);
    const auto there = server.get(key);
    if (!there) {
      if (unnamed == 0) out.push_back({key, Drift::What::surplus, {}});
    } else if (here && !there->reduced && *here != there->json) {
      // The same fields in another order are the same object.
      auto fields = differing_fields(*here, there->json, secret);
      if (!fields.empty()) out.push_back({key, Drift::What::different, std::move(fields)});
    }
  }
  for (const auto& key : server.keys()) {
    if (!cache.json(key)) out.push_back({key, Drift::What::missing, {}});
  }
  return out;
}

// Of a kind that is not found another version may be read soon.
bool passes(const Error& error) {
  return error.is_retryable() || error.is_not_found();
}

VerifyRound::VerifyRound(client::Client& client, const CachedKind& kind, Done done)
    : client_(client),
      kind_(kind),
      done_(std::move(done)),
      type_(kind.type()),
      state_(kind.state()),
      server_(same_make(kind)) {
  server_.begin_init();
  next_page("");
}

void VerifyRound::next_page(const std::string& token) {
  core::ListParams params;
  params.label_selector = kind_.plan().watch.label_selector;
  params.field_selector = kind_.plan().watch.field_selector;
  params.content = kind_.content();
  params.limit = kind_.plan().watch.page_size;
  params.continue_token = token;
  if (token.empty()) {
    params.resource_version = state_->resource_version();
    params.match = core::VersionMatch::exact;
  }
  request_ = client_.list_items(
      type_, kind_.namespace_name(), params,
      // The cache may have an older state of what cannot be named any more.
      [this](std::string_view item) {
        if (!server_.init_apply(item).ok()) ++unnamed_;
      },
      [this](Result<core::ListPage> page) { page_done(std::move(page)); });
}

void VerifyRound::page_done(Result<core::ListPage> page) {
  if (page.ok() && !page->continue_token.empty()) return next_page(page->continue_token);
  Verified out;
  out.resource_version = state_->resource_version();
  if (!page.ok() && page.error().is_gone()) {
    out.skipped = true;
  } else if (!page.ok() && passes(page.error())) {
    out.failed = page.error();
  } else if (!page.ok()) {
    return done_(std::move(page).error());
  } else {
    server_.finish_init(out.resource_version, nullptr);
    out.objects = server_.size();
    out.reduced = server_.reduced();
    const bool secret = kind_.type().gvk.kind == "Secret" && kind_.type().gvk.group.empty();
    out.unnamed = unnamed_;
    out.drift = compare_states(*state_, server_, secret, unnamed_);
  }
  state_.reset();
  done_(std::move(out));
}

void VerifyTally::add(std::size_t kind, const Verified& verified) {
  if (verified.failed) failed_[kind] = verified.failed;
  if (!verified.compared()) return;
  compared_[kind] = true;
  drifted_ = drifted_ || !verified.drift.empty();
  if (!left_out_.empty() || verified.not_compared() == 0) return;
  left_out_ =
      verified.reduced.empty()
          ? fmt::format("of {} the server has an object whose name cannot be read", kinds_[kind])
          : runtime::why_reduced(
                fmt::format("{} ({})", verified.reduced.front().str(), kinds_[kind]));
}

VerifyTally::Verdict VerifyTally::verdict(End end) const {
  std::vector<std::string> never;
  std::size_t never_at = 0;  // the first of them
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (compared_[i]) continue;
    if (never.empty()) never_at = i;
    never.push_back(kinds_[i]);
  }
  Verdict out;
  if (end == End::timed_out) {
    out = {kTimedOut, "timed out before the comparison was complete"};
  } else if (end == End::interrupted && rounds_ == 0) {
    out = {kFailed, "interrupted before the comparison was complete"};
  } else if (!never.empty() && failed_[never_at]) {
    const Error& why = *failed_[never_at];
    out = {exit_code_of(why),
           fmt::format("not compared in any round: {}: {}", never.front(), why.render())};
  } else if (!never.empty()) {
    out = {kFailed,
           fmt::format("not compared, for the server does not keep what it had so long: {}; try "
                       "again",
                       base::join(never, ", "))};
  } else if (!left_out_.empty()) {
    out = {kFailed, "not compared: " + left_out_};
  }
  if (drifted_) out.code = kFindings;
  return out;
}

std::string drift_text(const CachedKind& kind, const Verified& verified) {
  const std::string name = base::escape_for_terminal(kind.name());
  if (verified.skipped) {
    return fmt::format("{}: the server does not keep resourceVersion {} any more, not compared\n",
                       name, verified.resource_version);
  }
  if (verified.failed) {
    return fmt::format("{}: not compared: {}\n", name,
                       base::escape_for_terminal(verified.failed->render()));
  }
  std::string out =
      fmt::format("{}: {} objects at resourceVersion {}: {}\n", name, verified.objects,
                  verified.resource_version,
                  verified.drift.empty() ? std::string("no difference")
                                         : fmt::format("{} differ", verified.drift.size()));
  if (verified.not_compared() > 0) {
    out.insert(out.size() - 1, fmt::format(", {} not compared", verified.not_compared()));
  }
  for (const auto& drift : verified.drift) {
    out +=
        fmt::format("  {}: {}\n", base::escape_for_terminal(drift.key.str()), word_of(drift.what));
    for (const auto& field : drift.fields) out += "    " + field + "\n";
  }
  return out;
}

Json drift_json(const CachedKind& kind, const Verified& verified) {
  Json list = Json::array();
  for (const auto& drift : verified.drift) {
    Json fields = Json::array();
    for (const auto& field : drift.fields) fields.push_back(field);
    list.push_back({{"namespace", drift.key.namespace_},
                    {"name", drift.key.name},
                    {"what", word_of(drift.what)},
                    {"fields", std::move(fields)}});
  }
  Json out = {{"type", kind.type().qualified_plural()},
              {"namespace", kind.namespace_name()},
              {"resourceVersion", verified.resource_version},
              {"compared", verified.compared()},
              {"objects", verified.objects},
              {"notCompared", verified.not_compared()},
              {"drift", std::move(list)}};
  if (verified.failed) out["error"] = verified.failed->render();
  return out;
}

}  // namespace kubewatch::cli
