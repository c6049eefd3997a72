#include "runtime/store_record.hpp"

#include <cstring>
#include <new>

#include "base/ascii.hpp"
#include "base/number_text.hpp"

namespace kubewatch::runtime {

namespace {

constexpr std::size_t kUuidText = 36;
constexpr std::size_t kMaxVersionDigits = 19;  // fits 64 bits

bool is_hyphen_place(std::size_t i) {
  return i == 8 || i == 13 || i == 18 || i == 23;
}

int hex_value(char c) {
  if (base::is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// Little endian and as short as it can be; "" when it would not read back the same.
std::string pack_number(std::string_view text) {
  if (text.empty() || text.size() > kMaxVersionDigits || text.front() == '0') return "";
  const auto number = base::read_number<std::uint64_t>(text);
  std::string out;
  for (std::uint64_t value = number.value_or(0); value != 0; value >>= 8U) {
    out.push_back(static_cast<char>(value & 0xffU));
  }
  return out;
}

std::string unpack_number(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    value = value << 8U | static_cast<unsigned char>(bytes[i - 1]);
  }
  return std::to_string(value);
}

std::string unpack_uuid(std::string_view bytes) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out(kUuidText, '-');
  std::size_t at = 0;
  for (const char c : bytes) {
    if (is_hyphen_place(at)) ++at;
    const auto value = static_cast<unsigned char>(c);
    out[at++] = kHex[value >> 4U];
    out[at++] = kHex[value & 15U];
  }
  return out;
}

}  // namespace

PackedUid::PackedUid(std::string_view text) : text_(text) {
  if (text.size() != kUuidText) return;
  std::size_t out = 0;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    if (is_hyphen_place(i) && text[i++] != '-') return;
    const int high = hex_value(text[i]);
    const int low = hex_value(text[i + 1]);
    if (high < 0 || low < 0) return;
    uuid_[out++] = static_cast<char>(high * 16 + low);
  }
  packed_ = true;
}

RecordPtr::RecordPtr(const RecordPtr& other) : record_(other.record_) {
  if (record_ != nullptr) ++record_->references_;
}

RecordPtr::~RecordPtr() {
  if (record_ == nullptr || --record_->references_ > 0) return;
  // A base has none itself, so this goes no deeper.
  const RecordPtr base(const_cast<Record*>(record_->base()));
  record_->~Record();
  ::operator delete(record_);
}

RecordPtr RecordPtr::share(const Record* record) {
  auto* counted = const_cast<Record*>(record);
  if (counted != nullptr) ++counted->references_;
  return RecordPtr(counted);
}

RecordPtr Record::allocate(const Record& head, std::string_view identity, std::string_view bytes,
                           RecordPtr base) {
  const auto kept_base = reinterpret_cast<std::uintptr_t>(base.release());
  const std::string_view base_bytes(reinterpret_cast<const char*>(&kept_base),
                                    kept_base == 0 ? 0 : sizeof kept_base);
  void* memory =
      ::operator new(sizeof(Record) + identity.size() + base_bytes.size() + bytes.size());
  auto* record = new (memory) Record();
  record->text_size_ = head.text_size_;
  record->stored_size_ = static_cast<std::uint32_t>(bytes.size());
  record->name_size_ = head.name_size_;
  record->uid_size_ = head.uid_size_;
  record->version_size_ = head.version_size_;
  record->encoding_ = head.encoding_;
  record->uid_is_packed_ = head.uid_is_packed_;
  record->version_is_packed_ = head.version_is_packed_;
  record->has_base_ = kept_base != 0;
  record->marked_ = head.marked_;
  record->reduced_ = head.reduced_;
  record->terms_low_ = head.terms_low_;
  record->terms_high_ = head.terms_high_;
  char* at = reinterpret_cast<char*>(record) + sizeof(Record);
  for (const auto part : {identity, base_bytes, bytes}) {
    if (!part.empty()) std::memcpy(at, part.data(), part.size());
    at += part.size();
  }
  return RecordPtr(record);
}

RecordPtr Record::make(const Identity& identity, const Content& content) {
  const PackedUid uid(identity.uid);
  const std::string version = pack_number(identity.resource_version);
  Record head;
  head.uid_is_packed_ = uid.packed();
  head.version_is_packed_ = !version.empty();
  std::string packed(identity.name);
  packed.append(uid.bytes());
  packed.append(version.empty() ? identity.resource_version : std::string_view(version));
  head.text_size_ = static_cast<std::uint32_t>(content.text_size);
  head.name_size_ = static_cast<std::uint16_t>(identity.name.size());
  head.uid_size_ = static_cast<std::uint16_t>(uid.bytes().size());
  head.version_size_ = static_cast<std::uint16_t>(packed.size() - head.name_size_ - head.uid_size_);
  head.encoding_ = content.encoded.encoding;
  head.marked_ = content.marked;
  head.reduced_ = content.reduced;
  head.terms_low_ = static_cast<std::uint32_t>(content.terms);
  head.terms_high_ = static_cast<std::uint32_t>(content.terms >> 32U);
  return allocate(head, packed, content.encoded.bytes, content.base);
}

RecordPtr Record::recoded(const Record& from, const Content& content) {
  Record head;
  head.text_size_ = from.text_size_;
  head.name_size_ = from.name_size_;
  head.uid_size_ = from.uid_size_;
  head.version_size_ = from.version_size_;
  head.encoding_ = content.encoded.encoding;
  head.uid_is_packed_ = from.uid_is_packed_;
  head.version_is_packed_ = from.version_is_packed_;
  head.marked_ = from.marked_;
  head.reduced_ = from.reduced_;
  head.terms_low_ = from.terms_low_;
  head.terms_high_ = from.terms_high_;
  return allocate(head, {from.tail(), from.identity_size()}, content.encoded.bytes, content.base);
}

const Record* Record::base() const {
  std::uintptr_t out = 0;
  if (has_base_) std::memcpy(&out, tail() + identity_size(), sizeof out);
  return reinterpret_cast<const Record*>(out);
}

std::string Record::uid() const {
  return uid_is_packed_ ? unpack_uuid(packed_uid()) : std::string(packed_uid());
}

bool Record::has_uid(std::string_view uid) const {
  const PackedUid packed(uid);
  return packed.packed() == uid_is_packed_ && packed.bytes() == packed_uid();
}

std::string Record::resource_version() const {
  return version_is_packed_ ? unpack_number(packed_version()) : std::string(packed_version());
}

bool Record::has_resource_version(std::string_view version) const {
  return version_is_packed_ ? pack_number(version) == packed_version()
                            : version == packed_version();
}

std::size_t Record::held() const {
  const std::size_t asked = sizeof(Record) + identity_size() + base_size() + stored_size_;
  return (asked + 8 + 15) / 16 * 16;  // glibc: 8 bytes of head, rounded to 16
}

}  // namespace kubewatch::runtime
