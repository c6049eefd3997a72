// Where a value stands in its object: a chain on the stack, written out only when there is
// something to say of the place: below one long key each item would take as much time and memory.
// For the walks of this room and of apiserver/; what it points to must outlive it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kubewatch::schema {

struct ValuePlace {
  enum class Step {
    property,  // ".key", without the dot at the beginning
    member,    // ".key"
    index,     // "[0]"
    entry,     // "[key]", of a map where the server has it so
    text,      // the key as it is
  };
  const ValuePlace* above = nullptr;  // null: the object itself, or `key` where it stands
  std::string_view key;
  std::size_t index = 0;
  Step step = Step::text;

  static ValuePlace root(std::string_view text = {}) { return {nullptr, text, 0, Step::text}; }
  ValuePlace property(std::string_view name) const { return {this, name, 0, Step::property}; }
  ValuePlace member(std::string_view name) const { return {this, name, 0, Step::member}; }
  ValuePlace item(std::size_t at) const { return {this, {}, at, Step::index}; }
  ValuePlace entry(std::string_view name) const { return {this, name, 0, Step::entry}; }
  ValuePlace with(std::string_view text) const { return {this, text, 0, Step::text}; }

  // Of the text, without the signs between its parts.
  std::size_t size() const { return key.size() + (above == nullptr ? 0 : above->size()); }
  // "spec.list[0].name"
  std::string text() const {
    std::string out;
    write(out);
    return out;
  }

 private:
  void write(std::string& out) const {
    if (above != nullptr) above->write(out);
    switch (step) {
      case Step::property:
        if (!out.empty()) out += '.';
        out += key;
        break;
      case Step::member: out.append(1, '.').append(key); break;
      case Step::index: out.append(1, '[').append(std::to_string(index)).append(1, ']'); break;
      case Step::entry: out.append(1, '[').append(key).append(1, ']'); break;
      case Step::text: out += key; break;
    }
  }
};

}  // namespace kubewatch::schema
