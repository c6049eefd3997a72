// One object at rest: identity and encoded text in a single allocation, shared by who still needs
// it (the store, a snapshot, a change that is being told). A uid that is a UUID takes 16 bytes, a
// resourceVersion that is a number 8. Not the index, not the codec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/store_codec.hpp"

namespace kubewatch::runtime {

class Record;

// Counts references; one thread.
class RecordPtr {
 public:
  RecordPtr() = default;
  RecordPtr(std::nullptr_t) {}
  explicit RecordPtr(Record* record) : record_(record) {}  // takes the first reference over
  RecordPtr(const RecordPtr& other);
  RecordPtr(RecordPtr&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
  RecordPtr& operator=(RecordPtr other) noexcept {
    std::swap(record_, other.record_);
    return *this;
  }
  ~RecordPtr();

  const Record* get() const { return record_; }
  const Record& operator*() const { return *record_; }
  const Record* operator->() const { return record_; }
  explicit operator bool() const { return record_ != nullptr; }

 private:
  Record* record_ = nullptr;
};

class Record {
 public:
  struct Identity {
    std::string_view name, uid, resource_version;  // each at most kMaxIdentity bytes
  };
  static constexpr std::size_t kMaxIdentity = 4096;

  // `text_size`: of the text; `encoded`: what is kept of it.
  static RecordPtr make(const Identity& identity, std::size_t text_size, const Encoded& encoded);
  // The same object with its text encoded anew.
  static RecordPtr recoded(const Record& from, const Encoded& encoded);

  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  std::string_view name() const { return {tail(), name_size_}; }
  std::string uid() const;
  bool has_uid() const { return uid_size_ != 0; }
  bool has_uid(std::string_view uid) const;
  std::string resource_version() const;
  bool has_resource_version(std::string_view version) const;
  std::string_view bytes() const { return {tail() + identity_size(), stored_size_}; }
  std::size_t text_size() const { return text_size_; }
  Encoding encoding() const { return encoding_; }
  // Memory held, with the allocator's own.
  std::size_t held() const;

 private:
  friend class RecordPtr;
  Record() = default;
  static RecordPtr allocate(const Record& head, std::string_view identity, std::string_view bytes);
  const char* tail() const { return reinterpret_cast<const char*>(this) + sizeof(Record); }
  std::size_t identity_size() const { return std::size_t{name_size_} + uid_size_ + version_size_; }
  std::string_view packed_uid() const { return {tail() + name_size_, uid_size_}; }
  std::string_view packed_version() const {
    return {tail() + name_size_ + uid_size_, version_size_};
  }

  std::uint32_t references_ = 1;
  std::uint32_t text_size_ = 0;
  std::uint32_t stored_size_ = 0;
  std::uint16_t name_size_ = 0;
  std::uint16_t uid_size_ = 0;
  std::uint16_t version_size_ = 0;
  Encoding encoding_ = kPlain;
  bool uid_is_packed_ : 1 = false;
  bool version_is_packed_ : 1 = false;
};

// A UUID as 16 bytes, "" when the text is not one in its usual form (lower case, hyphens).
std::string pack_uuid(std::string_view text);
std::string unpack_uuid(std::string_view bytes);

}  // namespace kubewatch::runtime
