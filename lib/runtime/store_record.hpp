// One object at rest: identity and encoded text in a single allocation, shared by who still needs
// it (the store, a snapshot, a change that is being told, records that are kept as what they differ
// in from it). A uid that is a UUID takes 16 bytes, a resourceVersion that is a number up to 8. Not
// the index, not the codec.
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
  // One more reference to a record that somebody holds.
  static RecordPtr share(const Record* record);
  RecordPtr(const RecordPtr& other);
  RecordPtr(RecordPtr&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
  RecordPtr& operator=(RecordPtr other) noexcept {
    std::swap(record_, other.record_);
    return *this;
  }
  ~RecordPtr();

  Record* release() { return std::exchange(record_, nullptr); }
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

  // What is kept of the object.
  struct Content {
    std::size_t text_size = 0;  // of the text before it was encoded
    Encoded encoded;
    // Set: `encoded` is a patch for the base's text; where that is plain, it is to become one.
    RecordPtr base;
    std::uint64_t terms = 0;  // hash of the terms that it is found by
    bool marked = false;      // its text has marks in the place of what the record says itself
    bool reduced = false;     // metadata only, though the whole object was wanted
  };
  static RecordPtr make(const Identity& identity, const Content& content);
  // The same object with the same text encoded anew; the rest of the content is `from`'s.
  static RecordPtr recoded(const Record& from, const Content& content);

  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  std::string_view name() const { return {tail(), name_size_}; }
  std::string uid() const;
  bool has_uid() const { return uid_size_ != 0; }
  bool has_uid(std::string_view uid) const;
  // As PackedUid has it.
  std::string_view packed_uid() const { return {tail() + name_size_, uid_size_}; }
  std::string resource_version() const;
  bool has_resource_version(std::string_view version) const;
  std::string_view bytes() const { return {tail() + identity_size() + base_size(), stored_size_}; }
  // Null, or a record without a base.
  const Record* base() const;
  // bytes() are a patch for the base's text. Otherwise they hold the whole text.
  bool is_patch() const { return has_base_ && encoding_ != kPlain; }
  std::uint64_t terms() const { return std::uint64_t{terms_high_} << 32U | terms_low_; }
  std::size_t text_size() const { return text_size_; }
  bool marked() const { return marked_; }
  bool reduced() const { return reduced_; }
  Encoding encoding() const { return encoding_; }
  // Memory held, with the allocator's own.
  std::size_t held() const;

 private:
  friend class RecordPtr;
  Record() = default;
  static RecordPtr allocate(const Record& head, std::string_view identity, std::string_view bytes,
                            RecordPtr base);
  std::size_t base_size() const { return has_base_ ? sizeof(std::uintptr_t) : 0; }
  const char* tail() const { return reinterpret_cast<const char*>(this) + sizeof(Record); }
  std::size_t identity_size() const { return std::size_t{name_size_} + uid_size_ + version_size_; }
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
  bool has_base_ : 1 = false;
  bool marked_ : 1 = false;
  bool reduced_ : 1 = false;
  // In two halves: a whole one would be aligned, and every record larger.
  std::uint32_t terms_low_ = 0;
  std::uint32_t terms_high_ = 0;
};

// A uid as records hold it: a UUID in its usual form (lower case, hyphens) as 16 bytes, any other
// text as it is.
class PackedUid {
 public:
  // Refers to `text`.
  explicit PackedUid(std::string_view text);
  bool packed() const { return packed_; }
  std::string_view bytes() const { return packed_ ? std::string_view(uuid_, kBytes) : text_; }

 private:
  static constexpr std::size_t kBytes = 16;
  std::string_view text_;
  bool packed_ = false;
  char uuid_[kBytes];
};

}  // namespace kubewatch::runtime
