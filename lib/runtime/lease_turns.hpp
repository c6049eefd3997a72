// How many requests of many Leases are on their way at once: each needs a connection of its own,
// and a thousand shards would ask for a thousand. Those of Leases that are held go first, for their
// time runs out; among equals the one that asked first. Sends nothing itself. Plain.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace kubewatch::runtime {

class LeaseTurns {
 public:
  // With 32 a thousand renewals take three seconds where each takes a tenth of one: half of what
  // the default --renew-deadline leaves.
  explicit LeaseTurns(std::size_t most = 32) : most_(most) {}
  LeaseTurns(const LeaseTurns&) = delete;
  LeaseTurns& operator=(const LeaseTurns&) = delete;

  enum class Of { held, other };
  struct Place {
    Of of = Of::other;
    std::uint64_t id = 0;
    auto operator<=>(const Place&) const = default;
  };

  // From asking for a turn to the end of its request, or of the wish for it. Move-only.
  class Turn {
   public:
    Turn() = default;
    Turn(LeaseTurns* turns, Place place) : turns_(turns), place_(place) {}
    Turn(Turn&& from) noexcept : turns_(std::exchange(from.turns_, nullptr)), place_(from.place_) {}
    Turn& operator=(Turn&& from) noexcept {
      end();
      turns_ = std::exchange(from.turns_, nullptr);
      place_ = from.place_;
      return *this;
    }
    ~Turn() { end(); }
    void end() {
      if (auto* turns = std::exchange(turns_, nullptr)) turns->end(place_);
    }

   private:
    LeaseTurns* turns_ = nullptr;
    Place place_;
  };

  // `go` is called once, when its turn has come: from inside here where there is room, else from
  // inside the end of another turn, which may be in a destructor: it may send a request, and end
  // no turn.
  [[nodiscard]] Turn ask(Of of, std::function<void()> go);
  std::size_t waiting() const { return waiting_.size(); }

 private:
  void end(Place place);
  void fill();

  const std::size_t most_;
  std::size_t on_their_way_ = 0;
  std::uint64_t last_ = 0;
  std::map<Place, std::function<void()>> waiting_;
};

}  // namespace kubewatch::runtime
