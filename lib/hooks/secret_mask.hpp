// Takes secret values out of text that is about to be logged (P6): values of the Secrets in a
// hook's input or output and of environment values that come from files. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/json_fwd.hpp"

namespace kubewatch::hooks {

class SecretMask {
 public:
  // Values shorter than 6 bytes are too common to replace. Each line of a long value counts alone,
  // because logs come line by line. Where what quotes a value writes it otherwise, that goes too:
  // a text is looked at once as it stands and once without what quotes (Unquoted).
  void add_value(std::string_view value);
  // Of a Secret: data (as written and decoded) and stringData, of now and as last applied. Other
  // objects add nothing.
  void add_object(const Json& object);
  // The same for raw JSON; only texts that name the kind Secret are parsed.
  void add_json(std::string_view object_json);

  // What the other one knows as well.
  void merge(const SecretMask& other);

  // Each value becomes ***, and so do values that overlap. The time that it takes depends on the
  // text, hardly on how many values there are: where too many look alike, the rest of the text is
  // hidden.
  std::string mask(std::string_view text) const;
  // Of a text whose end was cut off: there goes as well what may be the beginning of a value.
  std::string mask_cut(std::string_view text) const;
  // Of a message, which may quote a value up to a "...": there as well.
  std::string mask_message(std::string_view text) const;
  // It knows more values than it can replace: mask() gives no text at all.
  bool overflowed() const { return overflowed_; }
  // It may overflow with one more object: what it is kept for is better begun anew.
  bool nearly_full() const;

 private:
  // By its first bytes, longer ones first.
  struct Place {
    std::uint64_t head;
    std::size_t size;
    std::uint64_t hash;
    bool operator<(const Place& other) const {
      return std::tie(head, other.size, hash) < std::tie(other.head, size, other.hash);
    }
  };
  struct Value {
    std::uint64_t power;  // of the hash's base, for windows of this size
    std::string text;
    bool given;  // or a form of one that was
  };
  struct Range {
    std::size_t begin;
    std::size_t end;
  };
  class Text;

  void insert(std::string_view value, bool given);
  void insert_with_forms(std::string_view value);
  void add_scalars(const Json& value, bool encoded);
  void add_data(const Json& secret);
  void note_head(std::uint64_t head);
  bool may_begin(std::uint64_t head) const;
  bool may_go_on(std::string_view end) const;
  std::size_t begun_as_it_stands(std::string_view text) const;
  std::size_t begun_at(std::string_view text) const;
  std::vector<Range> ranges(std::string_view text) const;
  std::string without_values(std::string_view text, std::size_t hidden_from) const;

  std::map<Place, Value> values_;
  std::vector<std::uint64_t> heads_;  // bits: a text has few heads that need a look at values_
  std::size_t given_ = 0;
  bool overflowed_ = false;  // rather nothing than a secret
};

}  // namespace kubewatch::hooks
