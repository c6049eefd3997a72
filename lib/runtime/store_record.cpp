#include "runtime/store_record.hpp"

#include <cstring>
#include <new>

namespace kubewatch::runtime {

void FreeRecord::operator()(Record* record) const noexcept {
  record->~Record();
  ::operator delete(record);
}

RecordPtr Record::make(const Identity& identity, std::size_t text_size, const Encoded& encoded) {
  const std::size_t tail = identity.name.size() + identity.uid.size() +
                           identity.resource_version.size() + encoded.bytes.size();
  void* memory = ::operator new(sizeof(Record) + tail);
  auto* record = new (memory) Record();
  record->text_size_ = static_cast<std::uint32_t>(text_size);
  record->stored_size_ = static_cast<std::uint32_t>(encoded.bytes.size());
  record->name_size_ = static_cast<std::uint16_t>(identity.name.size());
  record->uid_size_ = static_cast<std::uint16_t>(identity.uid.size());
  record->version_size_ = static_cast<std::uint16_t>(identity.resource_version.size());
  record->encoding_ = encoded.encoding;
  char* at = reinterpret_cast<char*>(record + 1);
  for (const auto part : {identity.name, identity.uid, identity.resource_version, encoded.bytes}) {
    if (!part.empty()) std::memcpy(at, part.data(), part.size());
    at += part.size();
  }
  return RecordPtr(record);
}

std::size_t Record::held() const {
  const std::size_t asked = sizeof(Record) + name_size_ + uid_size_ + version_size_ + stored_size_;
  return (asked + 8 + 15) / 16 * 16;  // glibc: 8 bytes of head, rounded to 16
}

}  // namespace kubewatch::runtime
