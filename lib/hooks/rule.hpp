// A rule file as data: what product.md's "Rule file" says, parsed, with defaults filled in. No I/O.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/backoff.hpp"
#include "base/time.hpp"
#include "core/resource.hpp"
#include "core/selector.hpp"
#include "jq/jq.hpp"
#include "runtime/watcher.hpp"

namespace kubewatch::hooks {

// One stream of objects: the keys that `for`, `owns` and `watches` share.
struct StreamRule {
  core::Gvk gvk;
  std::vector<std::string> namespaces;  // empty: all
  core::LabelSelector label_selector;
  core::FieldSelector field_selector;
  std::string shard_selector;  // --shard-by label=KEY: of this instance's shard; not the rule's own
  std::optional<jq::Program> filter;
  std::vector<std::string> strip;  // JSON pointers
  runtime::WatcherOptions list;    // strategy, content, ...; selectors are filled in
};

struct OwnsRule {
  StreamRule stream;
  bool on_apply = true;
  bool on_delete = true;
};

struct WatchesRule {
  std::string name;  // key in `related`
  StreamRule stream;
  bool map_all = false;
  std::optional<jq::Program> map;   // related object -> {name, namespace}...
  std::optional<jq::Program> refs;  // our object -> {name, namespace}... of related ones
};

struct WritesRule {
  core::Gvk gvk;
  std::vector<std::string> namespaces;  // further namespaces; empty: the object's own
};

struct EnvValue {
  std::string literal;
  std::optional<std::string> file;  // absolute path; read for each run
  std::optional<jq::Program> jq;
};

struct HookRule {
  std::vector<std::string>
      argv;               // resolved: argv[0] absolute; or {"/bin/sh","-e","-c",script,"hook"}
  std::string directory;  // the rule file's folder
  Duration timeout{30000};
  Duration grace{5000};
  std::map<std::string, EnvValue> env;
  std::vector<std::string> inherit_env;
  bool output_manifests = true;  // false: output: log
  std::size_t max_output = 4U << 20U;
};

struct FinalizeRule {
  HookRule hook;
  bool apply = false;
};

struct RetryExit {
  bool permanent = false;
  std::optional<Duration> after;
};

struct RetryRule {
  base::BackoffPolicy backoff{Duration{1000}, Duration{300000}, 2.0, 0.2};
  std::uint32_t max_attempts = 0;
  std::map<int, RetryExit> exits;
};

enum class WhenUnmatched { keep, release, finalize };
enum class Adopt { never, unowned };
enum class OwnerRef { controller, plain, none };
enum class OnImmutable { fail, recreate };
enum class Validate { none, schema, server };

struct ApplyRule {
  std::string field_manager;
  bool force = false;
  std::vector<std::string> force_paths;  // ".spec.replicas": conflicts there are taken over
  OnImmutable on_immutable = OnImmutable::fail;
  Validate validate = Validate::schema;
  Adopt adopt = Adopt::never;
  bool prune = true;
  OwnerRef owner_reference = OwnerRef::controller;
};

struct Rule {
  std::string name;
  std::string file;  // where it stands, for messages
  std::size_t line = 1;
  StreamRule for_;
  std::vector<OwnsRule> owns;
  std::vector<WritesRule> writes;
  std::vector<WatchesRule> watches;
  std::vector<std::string> changed;  // path expressions; empty: the default
  Duration debounce{0};
  Duration resync{0};  // 0 = never
  WhenUnmatched when_no_longer_matched = WhenUnmatched::release;
  std::size_t concurrency = 4;
  HookRule reconcile;
  std::optional<FinalizeRule> finalize;
  std::string finalizer_name;  // always set: used too when children need it
  RetryRule retry;
  ApplyRule apply;
};

}  // namespace kubewatch::hooks
