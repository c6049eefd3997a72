// What a rule asks of an object, applied to it: its jq programs (the one place where hooks touches
// lib/jq for values), and the shard that it must be of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/result.hpp"
#include "core/meta.hpp"
#include "hooks/rule.hpp"
#include "jq/jq.hpp"

namespace kubewatch::hooks {

// All outputs. Errors: invalid with the program and its words.
Result<std::vector<Json>> evaluate(const jq::Program& program, const Json& input);
Result<std::vector<Json>> evaluate_text(const jq::Program& program, const std::string& json);
// No filter matches everything; else the first output decides: false, null and none do not match.
Result<bool> passes(const std::optional<jq::Program>& filter, const std::string& json);

// What may be told of a program that fails on this object: of a Secret nothing in jq's words, which
// quote what the program has made of its values; of others without what masks know, and cut as all
// messages are: jq's words may quote a text whole.
std::string shown_failure(const core::Gvk& gvk, const std::string& json, const Error& error);

// True without shards by a label. Such objects come from watches of their shards, but what is read
// past the watches may be another instance's by then.
bool is_of_shard(const StreamRule& stream, const core::ObjectMeta& meta);

}  // namespace kubewatch::hooks
