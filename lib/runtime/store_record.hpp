// One object at rest: identity and encoded text in a single allocation. Not the index, not the
// codec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "runtime/store_codec.hpp"

namespace kubewatch::runtime {

class Record;
struct FreeRecord {
  void operator()(Record* record) const noexcept;
};
using RecordPtr = std::unique_ptr<Record, FreeRecord>;

class Record {
 public:
  struct Identity {
    std::string_view name, uid, resource_version;  // each at most kMaxIdentity bytes
  };
  static constexpr std::size_t kMaxIdentity = 4096;

  // `text_size`: of the JSON; `encoded`: what is kept of it.
  static RecordPtr make(const Identity& identity, std::size_t text_size, const Encoded& encoded);

  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  std::string_view name() const { return {tail(), name_size_}; }
  std::string_view uid() const { return {tail() + name_size_, uid_size_}; }
  std::string_view resource_version() const {
    return {tail() + name_size_ + uid_size_, version_size_};
  }
  std::string_view bytes() const {
    return {tail() + name_size_ + uid_size_ + version_size_, stored_size_};
  }
  std::size_t text_size() const { return text_size_; }
  Encoding encoding() const { return encoding_; }
  // Memory held, with the allocator's own.
  std::size_t held() const;

 private:
  Record() = default;
  const char* tail() const { return reinterpret_cast<const char*>(this + 1); }

  std::uint32_t text_size_ = 0;
  std::uint32_t stored_size_ = 0;
  std::uint16_t name_size_ = 0;
  std::uint16_t uid_size_ = 0;
  std::uint16_t version_size_ = 0;
  Encoding encoding_ = Encoding::plain;
};

}  // namespace kubewatch::runtime
