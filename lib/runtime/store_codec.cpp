#include "runtime/store_codec.hpp"

#include <zdict.h>
#include <zstd.h>

#include <algorithm>

namespace kubewatch::runtime {

namespace {

constexpr std::size_t kDictionaryBytes = 16U << 10U;
constexpr std::size_t kSampleBytes = 32U
                                     << 10U;  // of one object: a huge one must not be all of them
constexpr int kLevel = 1;
constexpr std::size_t kWorthCompressing = 256;

struct FreeCompressor {
  void operator()(ZSTD_CCtx* c) const { ZSTD_freeCCtx(c); }
  void operator()(ZSTD_DCtx* d) const { ZSTD_freeDCtx(d); }
  void operator()(ZSTD_CDict* c) const { ZSTD_freeCDict(c); }
  void operator()(ZSTD_DDict* d) const { ZSTD_freeDDict(d); }
};
template <class T>
using Owned = std::unique_ptr<T, FreeCompressor>;

// Working memory of zstd: hundreds of KB, so one for all stores of the process (one thread).
struct Workspace {
  Owned<ZSTD_CCtx> compressor{ZSTD_createCCtx()};
  Owned<ZSTD_DCtx> decompressor{ZSTD_createDCtx()};
  std::string buffer;
};

Workspace& workspace() {
  static Workspace shared;
  return shared;
}

}  // namespace

struct StoreCodec::Impl {
  Owned<ZSTD_CDict> encode;
  Owned<ZSTD_DDict> decode;
};

StoreCodec::StoreCodec() : impl_(std::make_unique<Impl>()) {}
StoreCodec::~StoreCodec() = default;
StoreCodec::StoreCodec(StoreCodec&&) noexcept = default;
StoreCodec& StoreCodec::operator=(StoreCodec&&) noexcept = default;

bool StoreCodec::trained() const {
  return impl_->encode != nullptr;
}

bool StoreCodec::train(const std::vector<std::string>& samples) {
  std::string all;
  std::vector<std::size_t> sizes;
  for (const auto& sample : samples) {
    sizes.push_back(std::min(sample.size(), kSampleBytes));
    all.append(sample, 0, sizes.back());
  }
  std::string dictionary(kDictionaryBytes, '\0');
  const std::size_t size = ZDICT_trainFromBuffer(dictionary.data(), dictionary.size(), all.data(),
                                                 sizes.data(), static_cast<unsigned>(sizes.size()));
  if (ZDICT_isError(size) != 0) return false;
  Owned<ZSTD_CDict> encode(ZSTD_createCDict(dictionary.data(), size, kLevel));
  Owned<ZSTD_DDict> decode(ZSTD_createDDict(dictionary.data(), size));
  if (!encode || !decode) return false;
  impl_->encode = std::move(encode);
  impl_->decode = std::move(decode);
  return true;
}

Encoded StoreCodec::compress(std::string_view text) {
  const Encoded plain{Encoding::plain, text};
  if (!trained() && text.size() < kWorthCompressing) return plain;
  Workspace& work = workspace();
  work.buffer.resize(ZSTD_compressBound(text.size()));
  ZSTD_CCtx* context = work.compressor.get();
  ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
  // The record knows the size, the store knows the dictionary: no need to say either in each frame.
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 0);
  ZSTD_CCtx_setParameter(context, ZSTD_c_dictIDFlag, 0);
  if (trained()) ZSTD_CCtx_refCDict(context, impl_->encode.get());
  const std::size_t size =
      ZSTD_compress2(context, work.buffer.data(), work.buffer.size(), text.data(), text.size());
  if (ZSTD_isError(size) != 0 || size >= text.size()) return plain;
  return {trained() ? Encoding::dictionary : Encoding::zstd,
          std::string_view(work.buffer).substr(0, size)};
}

std::string StoreCodec::decompress(Encoding encoding, std::string_view bytes,
                                   std::size_t text_size) const {
  if (encoding == Encoding::plain) return std::string(bytes);
  ZSTD_DCtx* context = workspace().decompressor.get();
  ZSTD_DCtx_reset(context, ZSTD_reset_session_and_parameters);
  if (encoding == Encoding::dictionary) ZSTD_DCtx_refDDict(context, impl_->decode.get());
  std::string text(text_size, '\0');
  const std::size_t size =
      ZSTD_decompressDCtx(context, text.data(), text.size(), bytes.data(), bytes.size());
  // Only a bug or broken memory can lead here; an empty text fails to parse where it is used.
  if (ZSTD_isError(size) != 0) return {};
  text.resize(size);
  return text;
}

std::size_t StoreCodec::bytes() const {
  if (!trained()) return 0;
  return ZSTD_sizeof_CDict(impl_->encode.get()) + ZSTD_sizeof_DDict(impl_->decode.get());
}

}  // namespace kubewatch::runtime
