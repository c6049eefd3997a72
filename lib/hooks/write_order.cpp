#include "hooks/write_order.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/strings.hpp"
#include "hooks/output.hpp"

namespace kubewatch::hooks {
namespace {

struct LookedUp {
  const char* group;
  const char* kind;
};

// By what kube-apiserver 1.36 has switched on by itself. Kinds that are merely named in others
// (a ConfigMap, a claim, a VolumeAttributesClass) are waited for by whoever uses them.
constexpr LookedUp kLookedUp[] = {
    // A Pod is refused without it; a Secret of its tokens is deleted without it.
    {"", "ServiceAccount"},
    // Bounds Pods and claims as they are made, and puts what they leave out.
    {"", "LimitRange"},
    // Refuses what is made beyond it, once its controller has filled in its status.
    {"", "ResourceQuota"},
    // A Pod is refused without it; the default one is filled in.
    {"scheduling.k8s.io", "PriorityClass"},
    // A Pod is refused without it; its overhead is filled in.
    {"node.k8s.io", "RuntimeClass"},
    // A PodGroup is refused without it.
    {"scheduling.k8s.io", "Workload"},
    // The default one is filled into claims; whether a claim may grow.
    {"storage.k8s.io", "StorageClass"},
    // The default one is filled into Ingresses.
    {"networking.k8s.io", "IngressClass"},
    // The addresses of Services are taken from it.
    {"networking.k8s.io", "ServiceCIDR"},
    // Which extended resource a ResourceClaim counts as, for quotas.
    {"resource.k8s.io", "DeviceClass"},
    // A binding is refused without it, unless its writer may bind everything.
    {"rbac.authorization.k8s.io", "Role"},
    {"rbac.authorization.k8s.io", "ClusterRole"},
    // A binding with parameters is refused without it, unless its writer may read everything.
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicy"},
    {"admissionregistration.k8s.io", "MutatingAdmissionPolicy"},
};

// A word of a message, without quotes and marks.
struct Word {
  std::string text;
  bool last = false;  // of its clause
};
using Words = std::vector<Word>;

// Without `pods "web" is forbidden: `, which names what was refused.
std::string_view reason_in(std::string_view message) {
  constexpr std::string_view kHead = "\" is forbidden: ";
  const auto at = message.find(kHead);
  return at == std::string_view::npos ? message : message.substr(at + kHead.size());
}

Words words_of(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  constexpr std::string_view kMarks = "\"'`:;,.()[]";
  Words out;
  for (auto at = text.find_first_not_of(kSpace); at != std::string_view::npos;) {
    const auto end = std::min(text.find_first_of(kSpace, at), text.size());
    std::string_view word = text.substr(at, end - at);
    at = text.find_first_not_of(kSpace, end);
    word.remove_prefix(std::min(word.find_first_not_of(kMarks), word.size()));
    const auto bare = word.substr(0, word.find_last_not_of(kMarks) + 1);
    const bool last = bare.size() < word.size() || at == std::string_view::npos;
    if (!bare.empty()) out.push_back({std::string(bare), last});
  }
  return out;
}

// The words from `at` on are these, in any case, and end a clause.
template <std::size_t N>
bool clause_ends(const Words& words, std::size_t at, const std::array<std::string_view, N>& these) {
  if (at + N > words.size() || !words[at + N - 1].last) return false;
  for (std::size_t i = 0; i < N; ++i) {
    if (base::to_lower(words[at + i].text) != these[i]) return false;
  }
  return true;
}

bool is_word(const Words& words, std::size_t end, std::string_view word) {
  return end > 0 && base::to_lower(words[end - 1].text) == word;
}

// Where the kind begins that the words before `end` say: "serviceaccount", "service account",
// "roles.rbac.authorization.k8s.io". Absent: they say another one, or none.
std::optional<std::size_t> kind_before(const Words& words, std::size_t end, const core::Gvk& gvk) {
  constexpr std::size_t kMostWords = 3;
  const std::string kind = base::to_lower(gvk.kind);
  const std::string group = "." + gvk.group;
  const std::string stem = kind.substr(0, kind.size() - 1);
  std::string said;
  for (std::size_t begin = end; begin > 0 && end - begin < kMostWords;) {
    --begin;
    said = base::to_lower(words[begin].text) + said;
    std::string word = said;
    if (!gvk.group.empty() && word.ends_with(group)) word.resize(word.size() - group.size());
    if (word == kind || word == kind + "s" || word == kind + "es" || word == stem + "ies") {
      return begin;
    }
  }
  return std::nullopt;
}

// Of the name at this place.
bool is_said_to_lack(const Words& words, std::size_t at, const core::Gvk& gvk) {
  // How the right to bind a policy's parameters is looked up.
  if (at >= 4 && gvk.kind.ends_with("Policy") && is_word(words, at, "policy") &&
      is_word(words, at - 1, "get") && is_word(words, at - 2, "to") &&
      is_word(words, at - 3, "unable")) {
    return true;
  }
  std::size_t end = at;
  for (const char* between : {"name", "named", "with"}) {
    if (is_word(words, end, between)) --end;
  }
  const auto begin = kind_before(words, end, gvk);
  if (!begin) return false;
  using Two = std::array<std::string_view, 2>;
  using Three = std::array<std::string_view, 3>;
  const std::size_t after = at + 1;
  return clause_ends(words, after, Two{"not", "found"}) ||
         clause_ends(words, after, Three{"was", "not", "found"}) ||
         clause_ends(words, after, Three{"is", "not", "found"}) ||
         clause_ends(words, after, Three{"does", "not", "exist"}) ||
         clause_ends(words, after, Two{"doesn't", "exist"}) ||
         (is_word(words, *begin, "no") && clause_ends(words, after, Two{"was", "found"}));
}

}  // namespace

OrderClass order_class(const core::Gvk& gvk) {
  if (gvk.group.empty() && gvk.kind == "Namespace") return OrderClass::namespaces;
  if (is_crd(gvk)) return OrderClass::definitions;
  const bool looked_up = std::any_of(
      std::begin(kLookedUp), std::end(kLookedUp),
      [&](const LookedUp& one) { return gvk.group == one.group && gvk.kind == one.kind; });
  return looked_up ? OrderClass::looked_up : OrderClass::rest;
}

OrderClass order_class(const Json& manifest) {
  const auto gvk = core::gvk_of(manifest);
  return gvk.ok() ? order_class(*gvk) : OrderClass::rest;
}

bool may_be_early(const Error& refusal) {
  return refusal.status() != nullptr && (refusal.is_forbidden() || refusal.is_not_found());
}

bool says_lacking(const Error& refusal, const std::string& in, const core::Gvk& gvk,
                  const core::ObjectKey& key) {
  // Nothing looks for it in another namespace than its own.
  if (!may_be_early(refusal) || (!key.namespace_.empty() && key.namespace_ != in)) return false;
  const std::string_view reason = reason_in(refusal.status()->message);
  // Asked for each pair of objects, and a message may be long.
  if (reason.find(key.name) == std::string_view::npos) return false;
  const Words words = words_of(reason);
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].text == key.name && is_said_to_lack(words, i, gvk)) return true;
  }
  return false;
}

}  // namespace kubewatch::hooks
