#include "apiserver/empties.hpp"

namespace kubewatch::apiserver {

Json lost_empties(const Json& sent, const Json& kept, bool in_lists) {
  Json out;
  if (sent.is_object() && kept.is_object()) {
    for (const auto& [key, below] : sent.items()) {
      const Json* there = base::find(kept, {key});
      if (there != nullptr && !there->is_null()) {
        Json lost = lost_empties(below, *there, in_lists);
        if (!lost.is_null()) out[key] = std::move(lost);
      } else if (below.is_structured() && below.empty()) {
        out[key] = below;
      }
    }
  } else if (in_lists && sent.is_array() && kept.is_array() && sent.size() == kept.size()) {
    bool any = false;
    for (std::size_t i = 0; i < sent.size(); ++i) {
      out.push_back(lost_empties(sent[i], kept[i], in_lists));
      any = any || !out.back().is_null();
    }
    if (!any) return nullptr;
  }
  return out;
}

void put_empties(const Json& empties, Json& object) {
  if (empties.is_array() && object.is_array() && empties.size() == object.size()) {
    for (std::size_t i = 0; i < object.size(); ++i) put_empties(empties[i], object[i]);
  }
  if (!empties.is_object() || !object.is_object()) return;
  for (const auto& [key, below] : empties.items()) {
    const auto there = object.find(key);
    if (there != object.end() && !there->is_null()) {
      put_empties(below, *there);
    } else if (below.empty()) {
      object[key] = below;
    }
  }
}

}  // namespace kubewatch::apiserver
