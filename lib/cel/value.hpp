// A value while a rule runs: 32 bytes, and nothing is copied out of the JSON it came from. Values
// of strings, lists and maps borrow the JSON and its DataType, or share an Object. An error is a
// value as well, so that the hot path knows no exceptions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/json_fwd.hpp"
#include "base/quantity.hpp"

namespace kubewatch::cel {

struct DataType;

// Wide enough that nanoseconds, and quantities with nine decimal places, do not overflow.
using base::Int128;

// Counted without atomics: values do not leave their thread.
class Object {
 public:
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;

 private:
  friend class Shared;
  std::uint32_t uses_ = 0;
};

class Shared {
 public:
  Shared() = default;
  explicit Shared(Object* object) : object_(object) { keep(); }
  Shared(const Shared& other) : object_(other.object_) { keep(); }
  Shared(Shared&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Shared() {
    if (object_ != nullptr && --object_->uses_ == 0) delete object_;
  }
  Object* get() const { return object_; }
  bool only_one() const { return object_ != nullptr && object_->uses_ == 1; }

 private:
  void keep() {
    if (object_ != nullptr) ++object_->uses_;
  }
  Object* object_ = nullptr;
};

class Value {
 public:
  enum class Kind : std::uint8_t {
    error,
    null,
    boolean,
    integer,
    uinteger,
    real,
    string,
    bytes,
    timestamp,
    duration,
    list,
    map,
    type,
    optional,
    quantity,
    ip,
    cidr,
    url,
    semver,
    format,
    undeclared,  // JSON that the schema does not describe
  };

  Value() = default;  // null
  static Value boolean(bool value);
  static Value integer(std::int64_t value);
  static Value uinteger(std::uint64_t value);
  static Value real(double value);
  static Value string(std::string text);
  static Value bytes(std::string bytes);
  // The text must live as long as the value.
  static Value borrowed_string(std::string_view text);
  // A piece of the text of a string, whose text it shares.
  static Value piece(const Value& whole, std::string_view text);
  static Value timestamp(std::int64_t seconds, std::uint32_t nanos);
  static Value duration(std::int64_t nanos);
  static Value error(std::string message);
  static Value no_such_overload();
  static Value cancelled();  // what is left when a run was stopped
  static Value type(std::string_view name);
  static Value with(Kind kind, Object* object);
  static Value none() { return with(Kind::optional, nullptr); }
  static Value some(Value value);
  // JSON as the value of its type; errors are values that say what does not fit.
  static Value from_json(const Json& json, const DataType& type);

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_error() const { return kind_ == Kind::error; }
  bool is_true() const { return kind_ == Kind::boolean && number_ != 0; }
  bool is_false() const { return kind_ == Kind::boolean && number_ == 0; }
  // Preconditions: the kind.
  bool as_bool() const { return number_ != 0; }
  std::int64_t as_int() const { return number_; }  // integer, duration, seconds of a timestamp
  std::uint64_t as_uint() const { return static_cast<std::uint64_t>(number_); }
  double as_real() const;
  std::uint32_t nanos() const { return nanos_; }
  std::string_view text() const { return {text_, size_}; }  // string, bytes, error, type
  const Object* object() const { return object_.get(); }
  template <class T>
  const T& as() const {
    return static_cast<const T&>(*object_.get());
  }
  // The object when nobody else has it: it may be changed in place.
  template <class T>
  T* owned() {
    return object_.only_one() ? static_cast<T*>(object_.get()) : nullptr;
  }
  // Null when the value does not stand for JSON.
  const Json* json() const { return stands_for_json() ? json_ : nullptr; }
  const DataType* data() const { return stands_for_json() ? data_ : nullptr; }

  std::string_view type_name() const;  // "int", "map", "google.protobuf.Timestamp"

 private:
  bool stands_for_json() const {
    return (kind_ == Kind::list || kind_ == Kind::map || kind_ == Kind::undeclared) &&
           object_.get() == nullptr;
  }
  static Value of_json(Kind kind, const Json& json, const DataType& type);

  Kind kind_ = Kind::null;
  std::uint32_t nanos_ = 0;
  union {
    std::int64_t number_ = 0;
    const char* text_;
    const Json* json_;
  };
  union {
    std::size_t size_ = 0;
    const DataType* data_;  // of lists, maps and undeclared
  };
  Shared object_;
};

}  // namespace kubewatch::cel
