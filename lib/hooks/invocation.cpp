// Builds the Invocation document and the environment of a hook.
#include "hooks/invocation.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "base/files.hpp"
#include "base/find_program.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "hooks/changed_paths.hpp"
#include "hooks/evaluate.hpp"
#include "hooks/trace.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMaxChanged = 64;
constexpr std::size_t kMaxValue = 64U << 10U;

const std::string& or_null(const std::string& json) {
  static const std::string null = "null";
  return json.empty() ? null : json;
}

void append_items(std::string& out, const std::vector<std::string>& items) {
  for (const std::string& item : items) {
    if (out.back() != '[') out += ',';
    out += item;
  }
}

// How far a list can be trusted: no hook runs on one that has a Lack.
Json state_of(const InputList& list, ListsIn lists) {
  Json out = {{"of", list.name.empty() ? "owned" : "related"},
              {"apiVersion", list.gvk.api_version()},
              {"kind", list.gvk.kind},
              {"resourceVersion", list.resource_version},
              {"complete", true}};
  if (!list.name.empty()) out["name"] = list.name;
  if (lists == ListsIn::files) out["file"] = list.file;
  if (list.absent) {
    out["absent"] = true;
    out.erase("resourceVersion");
  }
  return out;
}

// `lists` stands beside the lists, which are plain arrays; before them, and without members of
// their names: some hooks cut them out as text.
void append_lists(std::string& out, const Invocation& run, ListsIn lists) {
  Json states = Json::array();
  for (const InputList& list : run.owned) states.push_back(state_of(list, lists));
  for (const InputList& list : run.related) states.push_back(state_of(list, lists));
  out += R"(,"lists":)" + base::dump_json(states);
  if (lists == ListsIn::files) {
    out += '}';
    return;
  }
  out += R"(,"owned":[)";
  for (const InputList& list : run.owned) append_items(out, list.objects);
  out += R"(],"related":{)";
  for (std::size_t i = 0; i < run.related.size(); ++i) {
    if (i > 0) out += ',';
    out += base::json_quoted(run.related[i].name) + ":[";
    append_items(out, run.related[i].objects);
    out += ']';
  }
  out += "}}";
}

// Best effort, like `previous`.
void append_changed(std::string& out, const Invocation& run) {
  if (run.reason != runtime::Reason::updated || run.previous.empty()) return;
  const std::vector<std::string> paths = changed_paths(run.previous, run.object, kMaxChanged);
  if (!paths.empty()) out += R"(,"changed":)" + base::dump_json(Json(paths));
}

// "apiVersion Kind namespace/name" as an object that jq can take apart.
Json reason_object(const std::string& text) {
  const std::vector<std::string> parts = base::split(text, ' ');
  if (parts.size() != 3) return text;
  const std::size_t slash = parts[2].find('/');
  Json out = {{"apiVersion", parts[0]}, {"kind", parts[1]}};
  if (slash == std::string::npos) {
    out["name"] = parts[2];
  } else {
    out["namespace"] = parts[2].substr(0, slash);
    out["name"] = parts[2].substr(slash + 1);
  }
  return out;
}

class Builder {
 public:
  Builder(const EnvironmentInput& input, base::Random& random) : input_(input), random_(random) {}

  Result<HookEnvironment> build() {
    const EnvironmentPart part = input_.part;
    if (part != EnvironmentPart::line) {
      KW_TRY(base_variables());
      lasting_variables();
    }
    if (part != EnvironmentPart::worker) run_variables();
    for (const auto& [name, value] : input_.hook.env) {
      const bool of_run = value.jq.has_value();
      if (of_run ? part == EnvironmentPart::worker : part == EnvironmentPart::line && !value.file) {
        continue;
      }
      KW_TRY(own_variable(name, value).with_context("env " + name));
    }
    HookEnvironment out{{}, std::move(secrets_)};
    for (const auto& [name, value] : values_) out.variables.push_back(name + "=" + value);
    return out;
  }

 private:
  Result<void> set(const std::string& name, const std::string& value) {
    if (value.find('\0') != std::string::npos) {
      return Error(ErrorKind::invalid,
                   "its value contains a NUL byte, which no environment can hold");
    }
    if (value.size() > kMaxValue) {
      return Error(
          ErrorKind::too_large,
          fmt::format("its value has {} bytes; the limit is {} (read it from stdin instead)",
                      value.size(), kMaxValue));
    }
    values_[name] = value;
    return {};
  }

  Result<void> base_variables() {
    values_["PATH"] = input_.inherited("PATH").value_or(std::string(base::kDefaultPath));
    values_["HOME"] = input_.home;
    for (const std::string& name : input_.hook.inherit_env) {
      if (auto value = input_.inherited(name)) KW_TRY(set(name, *value));
    }
    return {};
  }

  void lasting_variables() {
    values_["KW_CONTROLLER"] = input_.invocation.controller;
    values_["KW_WORKDIR"] = input_.work_dir;
  }

  // In a worker's line the document says most of this.
  void run_variables() {
    const Invocation& run = input_.invocation;
    const core::ObjectMeta& meta = input_.meta;
    values_["TRACEPARENT"] = new_trace(random_).traceparent();
    const bool line = input_.part == EnvironmentPart::line;
    // A deleted object may be in the document nowhere.
    if (!line || (run.object.empty() && !meta.name.empty())) {
      values_["KW_API_VERSION"] = meta.api_version;
      values_["KW_KIND"] = meta.kind;
      values_["KW_NAMESPACE"] = meta.namespace_;
      values_["KW_NAME"] = meta.name;
      values_["KW_UID"] = meta.uid;
    }
    if (line) return;
    values_["KW_ID"] = run.id;
    values_["KW_GENERATION"] = meta.name.empty() ? "" : std::to_string(meta.generation);
    values_["KW_REASON"] = std::string(runtime::to_string(run.reason));
    values_["KW_ATTEMPT"] = std::to_string(run.attempt);
    values_["KW_FINALIZING"] = run.finalizing ? "true" : "false";
  }

  Result<void> own_variable(const std::string& name, const EnvValue& value) {
    if (value.file) {
      KW_ASSIGN(std::string text, input_.read_file(*value.file, kMaxValue));
      while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
      secrets_.push_back(text);
      return set(name, text);
    }
    if (!value.jq) return set(name, value.literal);
    if (!object_) {
      KW_ASSIGN(object_, base::parse_json(or_null(input_.invocation.object)));
    }
    const auto found = evaluate(*value.jq, *object_);
    if (!found.ok()) return failed(*value.jq, found.error());
    if (found->empty() || found->front().is_null()) return {};
    const Json& first = found->front();
    return set(name, first.is_string() ? first.get<std::string>() : base::dump_json(first));
  }

  // Of a Secret the program is shown instead of jq's words: they quote the beginning of what it
  // made of a value, which no mask knows.
  Error failed(const jq::Program& program, const Error& error) const {
    const core::Gvk secret{"", "v1", "Secret"};
    if (input_.meta.api_version != "v1" || input_.meta.kind != secret.kind) return error;
    return Error(error.kind(), shown_failure(secret, input_.invocation.object, error))
        .with_context("jq '" + program.text() + "'");
  }

  const EnvironmentInput& input_;
  base::Random& random_;
  std::optional<Json> object_;
  std::map<std::string, std::string> values_;
  std::vector<std::string> secrets_;
};

}  // namespace

std::optional<std::string> own_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

std::string build_document(const Invocation& run, ListsIn lists) {
  std::string out = R"({"apiVersion":"kubewatch.dev/v1","kind":"Invocation","id":)";
  out += base::json_quoted(run.id) + R"(,"controller":)" + base::json_quoted(run.controller);
  out += R"(,"reason":{"type":)" + base::json_quoted(runtime::to_string(run.reason));
  const bool in_words =
      run.reason == runtime::Reason::external || run.reason == runtime::Reason::manual;
  if (in_words && !run.reason_object.empty()) {
    out += R"(,"message":)" + base::json_quoted(run.reason_object);
  } else if (!run.reason_object.empty()) {
    out += R"(,"object":)" + base::dump_json(reason_object(run.reason_object));
  }
  append_changed(out, run);
  out += R"(},"attempt":)" + std::to_string(run.attempt);
  out += run.finalizing ? R"(,"finalizing":true)" : R"(,"finalizing":false)";
  out += R"(,"object":)" + or_null(run.object);
  out += R"(,"previous":)" + or_null(run.previous);
  append_lists(out, run, lists);
  return out;
}

Result<HookEnvironment> build_environment(const EnvironmentInput& input, base::Random& random) {
  return Builder(input, random).build();
}

}  // namespace kubewatch::hooks
