// What a hook is given: the Invocation document on stdin, and its environment. The document is put
// together from the JSON texts that the stores hold; big objects are not parsed again. Pure but for
// the files that `env` names, which come through a function.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/random.hpp"
#include "base/result.hpp"
#include "core/meta.hpp"
#include "hooks/input_list.hpp"
#include "hooks/rule.hpp"
#include "runtime/work_queue.hpp"

namespace kubewatch::hooks {

struct Invocation {
  std::string id;
  std::string controller;
  runtime::Reason reason = runtime::Reason::updated;
  std::string reason_object;  // "v1 ConfigMap shop/settings"; "" = the object itself
  std::uint32_t attempt = 1;
  bool finalizing = false;
  std::string object;            // raw JSON; "" = null
  std::string previous;          // the same
  std::vector<InputList> owned;  // by kind; told as one list
  std::vector<InputList> related;
};

// One line of JSON, without a newline. With ListsIn::files the lists' `file` stands in place of
// their objects.
std::string build_document(const Invocation& invocation, ListsIn lists = ListsIn::document);

// A worker outlives its runs: what is of one run reaches it in the line ("env").
enum class EnvironmentPart {
  all,
  worker,  // what holds for all runs; files as they are at its start
  line     // env by jq and from files, TRACEPARENT; which object was deleted
};

struct EnvironmentInput {
  const Invocation& invocation;
  const core::ObjectMeta& meta;
  const HookRule& hook;
  std::string work_dir;
  std::string home;
  std::function<std::optional<std::string>(const std::string&)> inherited;  // our own environment
  std::function<Result<std::string>(const std::string& path, std::size_t max)> read_file;
  EnvironmentPart part = EnvironmentPart::all;
};

// A variable of this process.
std::optional<std::string> own_environment(const std::string& name);

struct HookEnvironment {
  std::vector<std::string> variables;  // "K=V"; KW_INPUT is added by whoever starts the process
  std::vector<std::string> secrets;    // values that came from files: masked in logs
};

// A jq value that is null, or no value at all, leaves its variable unset. Errors: invalid (jq
// failed, NUL, too long), or those of reading a file; each names the variable.
Result<HookEnvironment> build_environment(const EnvironmentInput& input, base::Random& random);

}  // namespace kubewatch::hooks
