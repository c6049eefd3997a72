// A rule file as data: what kubewatch-rules(5) says, parsed, with defaults filled in. No I/O.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/backoff.hpp"
#include "base/time.hpp"
#include "core/resource.hpp"
#include "core/selector.hpp"
#include "hooks/forced_paths.hpp"
#include "hooks/rule_cron.hpp"
#include "jq/jq.hpp"
#include "runtime/watcher.hpp"

namespace kubewatch::hooks {

// One stream of objects: the keys that `for`, `owns` and `watches` share.
struct StreamRule {
  core::Gvk gvk;
  bool every_kind = false;                 // {group, kinds: "*"}: of gvk only the group counts
  std::vector<std::string> namespaces;     // empty: all
  core::LabelSelector namespace_selector;  // not empty: the namespaces with these labels, live
  core::LabelSelector label_selector;
  core::FieldSelector field_selector;
  bool shard_namespaces = false;  // --shard-by namespace=...: `namespaces` are not the rule's own
  std::string shard_selector;  // --shard-by label=KEY: of this instance's shard; not the rule's own
  std::optional<jq::Program> filter;
  std::vector<std::string> strip;  // JSON pointers
  runtime::WatcherOptions list;    // strategy, content, ...; selectors are filled in
  bool optional = false;           // a missing CRD does not hold the rule
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

// 0: no limit.
struct HookLimits {
  std::size_t memory = 0;  // bytes, of all its processes together
  Duration cpu{0};         // of all its processes together; of a worker: for one run
  std::size_t processes = 0;
  bool any() const { return memory > 0 || cpu > Duration{0} || processes > 0; }
};

enum class HookMode { process, worker };
// Where a hook finds `owned` and `related`: in the document, or in files that this names.
enum class ListsIn { document, files };

struct CredentialsRule {
  enum class Kind { none, kubeconfig, service_account, cache } kind = Kind::none;
  std::string service_account;
  bool read_only = false;  // cache, in a dry run: writes are refused
};

struct HookRule {
  std::vector<std::string>
      argv;               // resolved: argv[0] absolute; or {"/bin/sh","-e","-c",script,"hook"}
  bool shell = false;     // argv is the latter: the rule file holds the program
  std::string directory;  // the rule file's folder
  Duration timeout{30000};
  Duration grace{5000};
  std::map<std::string, EnvValue> env;
  std::vector<std::string> inherit_env;
  bool output_manifests = true;  // false: output: log
  std::size_t max_output = 4U << 20U;
  HookLimits limits;
  HookMode mode = HookMode::process;
  ListsIn lists = ListsIn::document;
  CredentialsRule credentials;
};

struct FinalizeRule {
  HookRule hook;
  bool apply = false;
  bool left_out = false;  // a dry run: what is to be finalized stays as it is
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

// Where requests to run objects come from. Exactly one of the three.
struct TriggerRule {
  std::vector<std::string> exec;  // argv of a program that prints requests, argv[0] absolute
  std::string file;               // absolute path; requests are appended to it
  std::string http_path;          // "/kick"; with --triggers
  std::string token_file;         // with http_path: absolute path; "" = no token is asked for
};

// Of our finalizer, when the rule goes from the rule files while the controller runs.
enum class WhenRemoved { release, keep };
enum class WhenUnmatched { keep, release, finalize };
enum class Adopt { never, unowned };
enum class OwnerRef { controller, plain, none };
enum class OnImmutable { fail, recreate };
enum class Validate { none, schema, server };

inline constexpr std::size_t kLongestManager = 128;  // bytes: the API server takes no longer one

struct ApplyRule {
  std::string field_manager;
  bool force = false;
  std::vector<ForcedPath> force_paths;  // conflicts there are taken over
  OnImmutable on_immutable = OnImmutable::fail;
  Validate validate = Validate::schema;
  Adopt adopt = Adopt::never;
  bool prune = true;
  OwnerRef owner_reference = OwnerRef::controller;
};

struct Rule {
  std::string name;
  std::string document;  // metadata.name: that of `name` before a kind was added to it
  std::string file;      // where it stands, for messages
  std::size_t line = 1;
  std::uint64_t fingerprint = 0;  // equal: the same document in the same folder
  bool has_for = true;            // false: one run for everything
  StreamRule for_;
  std::vector<OwnsRule> owns;
  std::vector<WritesRule> writes;
  std::vector<WatchesRule> watches;
  std::vector<std::string> changed;  // path expressions; empty: the default
  Duration debounce{0};
  Duration resync{0};  // 0 = never
  std::optional<CronSchedule> schedule;
  std::vector<TriggerRule> triggers;
  bool on_delete = false;
  WhenUnmatched when_no_longer_matched = WhenUnmatched::release;
  std::size_t concurrency = 4;
  HookRule reconcile;
  std::optional<FinalizeRule> finalize;
  std::string finalizer_name;  // always set: used too when children need it
  WhenRemoved when_removed = WhenRemoved::release;
  RetryRule retry;
  ApplyRule apply;
};

}  // namespace kubewatch::hooks
