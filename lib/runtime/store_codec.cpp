#include "runtime/store_codec.hpp"

// The trainer with parameters is for static linking, which is how this program has zstd.
#define ZDICT_STATIC_LINKING_ONLY
#include <zdict.h>
#include <zstd.h>

#include <algorithm>
#include <utility>

namespace kubewatch::runtime {

namespace {

constexpr std::size_t kDictionaryBytes = 16U << 10U;
constexpr std::size_t kPatchDictionaryBytes = 4U << 10U;
constexpr std::size_t kFewestPatches = 100;
// A zstd frame's; not kept, all have it.
constexpr std::string_view kFrameMagic = "\x28\xb5\x2f\xfd";
constexpr std::size_t kMaxPatch = 1U << 20U;
constexpr std::size_t kMaxAdopted = 1U << 20U;
constexpr int kTextLevel = 1;
constexpr std::size_t kWorthCompressing = 256;
// Lengths of the pieces that dictionaries are made of. Given, because a trainer that looks for the
// best one takes ten times as long, up to a tenth of a second in which nothing else is done, and
// finds dictionaries that compress by one per cent better (measured: tests/bench/bench_store).
constexpr unsigned kTextPiece = 1024;
constexpr unsigned kPatchPiece = 64;

struct Free {
  void operator()(ZSTD_CCtx* c) const { ZSTD_freeCCtx(c); }
  void operator()(ZSTD_DCtx* d) const { ZSTD_freeDCtx(d); }
  void operator()(ZSTD_CDict* c) const { ZSTD_freeCDict(c); }
  void operator()(ZSTD_DDict* d) const { ZSTD_freeDDict(d); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

// Working memory of zstd: hundreds of KB, so one for all stores of the process (one thread).
struct Workspace {
  Owned<ZSTD_CCtx> compressor{ZSTD_createCCtx()};
  Owned<ZSTD_DCtx> decompressor{ZSTD_createDCtx()};
  std::string buffer;
  std::string frame;
};

Workspace& workspace() {
  static Workspace shared;
  return shared;
}

}  // namespace

// The two prepared forms of one dictionary.
class Trained {
 public:
  // False when the bytes are no dictionary.
  bool take(std::string bytes) {
    if (ZSTD_getDictID_fromDict(bytes.data(), bytes.size()) == 0) return false;
    bytes_ = std::move(bytes);
    encode_.reset(ZSTD_createCDict(bytes_.data(), bytes_.size(), kTextLevel));
    decode_.reset(ZSTD_createDDict(bytes_.data(), bytes_.size()));
    return encode_ && decode_;
  }
  bool train(const std::vector<std::string>& samples, std::size_t most, unsigned piece) {
    std::string all;
    std::vector<std::size_t> sizes;
    for (const auto& sample : samples) {
      sizes.push_back(std::min(sample.size(), StoreCodec::kSampleBytes));
      all.append(sample, 0, sizes.back());
    }
    std::string bytes(most, '\0');
    ZDICT_fastCover_params_t how{};
    how.k = piece;
    how.d = 8;
    how.f = 18;
    how.accel = 2;
    const std::size_t size =
        ZDICT_trainFromBuffer_fastCover(bytes.data(), bytes.size(), all.data(), sizes.data(),
                                        static_cast<unsigned>(sizes.size()), how);
    if (ZDICT_isError(size) != 0) return false;
    bytes.resize(size);
    bytes.shrink_to_fit();
    return take(std::move(bytes));
  }

  explicit operator bool() const { return encode_ != nullptr; }
  const ZSTD_CDict* encoder() const { return encode_.get(); }
  const ZSTD_DDict* decoder() const { return decode_.get(); }
  std::string_view bytes() const { return bytes_; }
  std::size_t held() const {
    if (!encode_) return 0;
    return bytes_.capacity() + ZSTD_sizeof_CDict(encode_.get()) + ZSTD_sizeof_DDict(decode_.get());
  }

 private:
  std::string bytes_;
  Owned<ZSTD_CDict> encode_;
  Owned<ZSTD_DDict> decode_;
};

class Dictionary {
 public:
  // Null when the bytes are no dictionary.
  static DictionaryPtr make(std::string_view bytes, std::string_view patches) {
    auto out = std::make_shared<Dictionary>();
    if (!out->texts_.take(std::string(bytes))) return nullptr;
    if (!patches.empty() && !out->patches_.take(std::string(patches))) return nullptr;
    return out;
  }
  static DictionaryPtr train(const std::vector<std::string>& samples,
                             const std::vector<std::string>& patches) {
    auto out = std::make_shared<Dictionary>();
    if (!out->texts_.train(samples, kDictionaryBytes, kTextPiece)) return nullptr;
    if (patches.size() < kFewestPatches ||
        !out->patches_.train(patches, kPatchDictionaryBytes, kPatchPiece)) {
      out->patches_ = Trained();
    }
    return out;
  }

  const Trained& texts() const { return texts_; }
  // Without one of their own, patches share the objects'.
  const Trained& patches() const { return patches_ ? patches_ : texts_; }
  std::string_view patch_bytes() const { return patches_.bytes(); }
  std::size_t held() const { return texts_.held() + patches_.held(); }

 private:
  Trained texts_;
  Trained patches_;
};

namespace {

// Without its magic number; "" when it would not become smaller and that is not asked for.
std::string_view squeeze(const ZSTD_CDict* dictionary, std::string_view text, bool with_size) {
  Workspace& work = workspace();
  const std::size_t bound = ZSTD_compressBound(text.size());
  if (work.buffer.size() < bound || work.buffer.size() > 16 * bound + (1U << 20U)) {
    work.buffer = std::string(bound, '\0');
  }
  ZSTD_CCtx* context = work.compressor.get();
  ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
  // The store knows the dictionary, and of a text the size: no need to say it in each frame.
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, kTextLevel);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, with_size ? 1 : 0);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 0);
  ZSTD_CCtx_setParameter(context, ZSTD_c_dictIDFlag, 0);
  if (dictionary != nullptr) ZSTD_CCtx_refCDict(context, dictionary);
  const std::size_t size =
      ZSTD_compress2(context, work.buffer.data(), work.buffer.size(), text.data(), text.size());
  if (ZSTD_isError(size) != 0) return {};
  if (!with_size && size >= text.size() + kFrameMagic.size()) return {};
  return std::string_view(work.buffer).substr(kFrameMagic.size(), size - kFrameMagic.size());
}

Encoded encode(const Dictionary* dictionary, Encoding encoding, std::string_view text) {
  const Encoded plain{kPlain, text};
  if (dictionary == nullptr && text.size() < kWorthCompressing) return plain;
  const auto bytes =
      squeeze(dictionary == nullptr ? nullptr : dictionary->texts().encoder(), text, false);
  return bytes.empty() ? plain : Encoded{encoding, bytes};
}

// The frame with its magic number, valid until the next call.
std::string_view framed(std::string_view bytes) {
  std::string& buffer = workspace().frame;
  if (buffer.capacity() > 16 * bytes.size() + (1U << 20U)) buffer = std::string();
  return buffer.assign(kFrameMagic).append(bytes);
}

// "" when the bytes are not that many of that dictionary.
void unsqueeze(const ZSTD_DDict* dictionary, std::string_view frame, std::size_t text_size,
               std::string& out) {
  ZSTD_DCtx* context = workspace().decompressor.get();
  ZSTD_DCtx_reset(context, ZSTD_reset_session_and_parameters);
  if (dictionary != nullptr) ZSTD_DCtx_refDDict(context, dictionary);
  out.resize(text_size);
  const std::size_t size =
      ZSTD_decompressDCtx(context, out.data(), out.size(), frame.data(), frame.size());
  if (ZSTD_isError(size) != 0 || size != text_size) out.clear();
}

std::size_t encoded_size(const Dictionary* dictionary, const std::vector<std::string>& texts) {
  std::size_t sum = 0;
  for (const auto& text : texts) sum += encode(dictionary, kZstd, text).bytes.size();
  return sum;
}

}  // namespace

StoreCodec::StoreCodec() = default;
StoreCodec::~StoreCodec() = default;
StoreCodec::StoreCodec(StoreCodec&&) noexcept = default;
StoreCodec& StoreCodec::operator=(StoreCodec&&) noexcept = default;

bool StoreCodec::take_over(DictionaryPtr fresh) {
  for (std::size_t i = 0; i < dictionaries_.size(); ++i) {
    if (dictionaries_[i] != nullptr) continue;
    dictionaries_[i] = std::move(fresh);
    current_ = static_cast<Encoding>(kFirstDictionary + i);
    return true;
  }
  return false;
}

bool StoreCodec::train(const std::vector<std::string>& samples,
                       const std::vector<std::string>& proof,
                       const std::vector<std::string>& patches) {
  auto fresh = Dictionary::train(samples, patches);
  if (fresh == nullptr) return false;
  const std::size_t before = encoded_size(dictionary(current_).get(), proof);
  if (encoded_size(fresh.get(), proof) > before - before / 10) return false;
  return take_over(std::move(fresh));
}

bool StoreCodec::adopt(std::string_view dictionary, std::string_view patches) {
  if (dictionary.size() > kMaxAdopted || patches.size() > kMaxAdopted) return false;
  auto fresh = Dictionary::make(dictionary, patches);
  return fresh != nullptr && take_over(std::move(fresh));
}

void StoreCodec::forget_others() {
  for (std::size_t i = 0; i < dictionaries_.size(); ++i) {
    if (kFirstDictionary + i != current_) dictionaries_[i].reset();
  }
}

Encoded StoreCodec::compress(std::string_view text) const {
  return encode(trained() ? dictionaries_[current_ - kFirstDictionary].get() : nullptr, current_,
                text);
}

DictionaryPtr StoreCodec::dictionary(Encoding encoding) const {
  if (encoding < kFirstDictionary || encoding >= kFirstDictionary + kMaxDictionaries) {
    return nullptr;
  }
  return dictionaries_[encoding - kFirstDictionary];
}

std::string StoreCodec::decompress(Encoding encoding, std::string_view bytes,
                                   std::size_t text_size) const {
  const bool known = encoding >= kFirstDictionary && encoding < kFirstDictionary + kMaxDictionaries;
  std::string out;
  decompress_with(known ? dictionaries_[encoding - kFirstDictionary].get() : nullptr, encoding,
                  bytes, text_size, out);
  return out;
}

void StoreCodec::decompress_with(const Dictionary* dictionary, Encoding encoding,
                                 std::string_view bytes, std::size_t text_size, std::string& out) {
  out.clear();
  if (encoding == kPlain) {
    out = bytes;
  } else if (encoding == kZstd || dictionary != nullptr) {
    unsqueeze(dictionary == nullptr ? nullptr : dictionary->texts().decoder(), framed(bytes),
              text_size, out);
  }
}

std::optional<Encoded> StoreCodec::compress_patch(std::string_view patch) const {
  const Dictionary& dictionary = *dictionaries_[current_ - kFirstDictionary];
  const auto bytes = squeeze(dictionary.patches().encoder(), patch, true);
  if (bytes.empty()) return std::nullopt;
  return Encoded{current_, bytes};
}

void StoreCodec::decompress_patch(const Dictionary& dictionary, std::string_view bytes,
                                  std::string& out) {
  out.clear();
  const std::string_view frame = framed(bytes);
  const auto size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR) return;
  if (size > kMaxPatch) return;
  unsqueeze(dictionary.patches().decoder(), frame, static_cast<std::size_t>(size), out);
}

std::string_view StoreCodec::dictionary_bytes() const {
  return trained() ? dictionaries_[current_ - kFirstDictionary]->texts().bytes()
                   : std::string_view();
}

std::string_view StoreCodec::patch_dictionary_bytes() const {
  return trained() ? dictionaries_[current_ - kFirstDictionary]->patch_bytes() : std::string_view();
}

std::size_t StoreCodec::bytes() const {
  std::size_t sum = 0;
  for (const auto& dictionary : dictionaries_) {
    if (dictionary != nullptr) sum += dictionary->held();
  }
  return sum;
}

}  // namespace kubewatch::runtime
