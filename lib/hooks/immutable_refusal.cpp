#include "hooks/immutable_refusal.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/strings.hpp"
#include "core/status.hpp"

namespace kubewatch::hooks {
namespace {

// In lower case. As kube-apiserver 1.36 says it (apimachinery's pkg/api/validate and
// pkg/api/validation, pkg/apis/*/validation), and authors of CRDs. What may only grow or shrink,
// as the storage of a claim, is none: to delete it for that is nothing that anybody means.
constexpr auto kWords = std::to_array<std::string_view>({
    "immutable",                               // most kinds; CRDs: "Value is immutable"
    "once set",                                // Service: "may not change", "cannot be modified"
    "cannot be set once created",              // a field marked NoSet
    "updates to statefulset spec",             // "... for fields other than"
    "may not be changed",                      // PriorityClass
    "cannot change roleref",                   // RoleBinding, ClusterRoleBinding
    "updates to parameters are forbidden",     // VolumeAttributesClass, StorageClass before 1.36
    "updates to drivername are forbidden",     // VolumeAttributesClass
    "updates to provisioner are forbidden",    // StorageClass before 1.36
    "updates to reclaimpolicy are forbidden",  // the same
    "pod updates may not",                     // "change fields other than", "add or remove"
    "existing toleration can not be modified",
    "only deletion is allowed",             // of a Pod's schedulingGates
    "only additions to spec.nodeselector",  // of a Pod that is gated, as the next two
    "only additions are allowed",
    "no additions/deletions to non-empty",
});

// What is quoted is the object's: its values may be any words.
std::string said_by_server(std::string_view text) {
  std::string out;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      out += text[i];
    }
  }
  return base::to_lower(out);
}

// What stands behind the first of these words; absent: they are not there.
std::optional<std::string_view> behind(std::string_view text, std::string_view words) {
  const std::size_t at = text.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  return text.substr(at + words.size());
}

// A rule that has no message is told by its own text, which may speak of anything.
bool is_kept_as_it_is(std::string_view rule) {
  std::string bare(rule);
  std::erase(bare, ' ');
  return bare == "self==oldself" || bare == "oldself==self";
}

bool tells_of_immutable(std::string_view message) {
  const std::string said = said_by_server(message);
  std::string_view text = said;
  if (text.starts_with("validatingadmissionpolicy '")) {  // names in the quotes of a person
    text = behind(text, "denied request: ").value_or("");
  }
  if (const auto rule = behind(text, "failed rule: ")) return is_kept_as_it_is(*rule);
  if (behind(text, "failed expression: ")) return false;
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view words) { return text.find(words) != std::string::npos; });
}

}  // namespace

bool is_immutable_refusal(const Error& error) {
  if (error.kind() != ErrorKind::invalid || error.status() == nullptr) return false;
  const auto causes = core::causes_of(error);
  // The message has names and paths besides, which are the object's as well.
  if (causes.empty()) return tells_of_immutable(error.status()->message);
  // Of other causes what is made anew would be refused as well, and the old one be gone.
  return std::all_of(causes.begin(), causes.end(), [](const core::StatusCause& cause) {
    return tells_of_immutable(cause.message);
  });
}

}  // namespace kubewatch::hooks
