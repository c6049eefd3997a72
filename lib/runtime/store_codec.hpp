// How object text rests in the cache: zstd, with a dictionary trained on the store's own objects
// once there are enough of them, and a second one for patches (text_patch.hpp), which look nothing
// like objects. One kind's objects are much alike, so the dictionary carries most of the gain.
// Objects change, so a later dictionary may take over; an earlier one lives until nothing is
// encoded with it. The only user of zstd.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kubewatch::runtime {

// How a text is encoded: a slot of the codec's dictionaries, or none.
using Encoding = std::uint8_t;
inline constexpr Encoding kPlain = 0;
inline constexpr Encoding kZstd = 1;
inline constexpr Encoding kFirstDictionary = 2;
inline constexpr std::size_t kMaxDictionaries = 4;

struct Encoded {
  Encoding encoding = kPlain;
  std::string_view bytes;  // valid until the next call
};

class Dictionary;
using DictionaryPtr = std::shared_ptr<const Dictionary>;

class StoreCodec {
 public:
  // More of one sample is not looked at: a huge object must not be all of them.
  static constexpr std::size_t kSampleBytes = 32U << 10U;

  StoreCodec();
  ~StoreCodec();
  StoreCodec(StoreCodec&&) noexcept;
  StoreCodec& operator=(StoreCodec&&) noexcept;

  // The encoding that compress() aims at: kZstd until trained.
  Encoding best() const { return current_; }
  bool trained() const { return current_ != kZstd; }
  // Trains a dictionary and takes it into use; the ones before stay readable. `proof`: texts on
  // which it must beat what is in use by a tenth. False when the samples hold too little in common,
  // it would not help, or there is no room for one more; nothing changes then. `patches`: samples
  // of these; too few are no reason to fail.
  bool train(const std::vector<std::string>& samples, const std::vector<std::string>& proof,
             const std::vector<std::string>& patches);
  // Takes dictionaries from outside (those of another codec); `patches` may be empty. False when
  // they are none.
  bool adopt(std::string_view dictionary, std::string_view patches);
  // Gives up all dictionaries but the one in use: nothing is encoded with them any more.
  void forget_others();

  // The best that is at hand; plain when compressing gains nothing.
  Encoded compress(std::string_view text) const;
  // Precondition: trained. Absent when zstd fails, which only memory can make it.
  std::optional<Encoded> compress_patch(std::string_view patch) const;
  // Safe with any bytes: "" when they are not what compress() made.
  std::string decompress(Encoding encoding, std::string_view bytes, std::size_t text_size) const;

  // For who decodes later, when this codec may have forgotten it; null for kPlain and kZstd.
  DictionaryPtr dictionary(Encoding encoding) const;
  // Into a text whose memory may be there already.
  static void decompress_with(const Dictionary* dictionary, Encoding encoding,
                              std::string_view bytes, std::size_t text_size, std::string& out);
  // Safe with any bytes: "" when they are not what compress_patch() made.
  static void decompress_patch(const Dictionary& dictionary, std::string_view bytes,
                               std::string& out);
  // The dictionaries in use, "" without.
  std::string_view dictionary_bytes() const;
  std::string_view patch_dictionary_bytes() const;
  // The dictionaries and their prepared forms.
  std::size_t bytes() const;

 private:
  bool take_over(DictionaryPtr fresh);

  std::array<DictionaryPtr, kMaxDictionaries> dictionaries_;
  Encoding current_ = kZstd;
};

}  // namespace kubewatch::runtime
