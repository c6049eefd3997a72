#include "hooks/server_silence.hpp"

#include <algorithm>
#include <utility>

namespace kubewatch::hooks {

std::optional<TimePoint> ServerSilence::ended(End how, Duration took, TimePoint now) {
  if (how == End::answered) {
    answered_ = now;
    silent_since_.reset();
    return std::nullopt;
  }
  const TimePoint began = now - took;
  if (answered_ && began <= *answered_) return std::nullopt;
  if (failed_ && began - *failed_ > kAgain) silent_since_.reset();
  failed_ = now;
  silent_since_ = std::min(silent_since_.value_or(began), began);
  if (now - *silent_since_ < kProof || (told_ && now - *told_ < kAgain)) return std::nullopt;
  told_ = now;
  // What is opened now is doubted again only for what fails from now on.
  return std::exchange(silent_since_, std::nullopt);
}

}  // namespace kubewatch::hooks
