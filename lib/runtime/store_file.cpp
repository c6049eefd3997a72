// A store as bytes and back: what was watched, the resourceVersion, the dictionary, the records, a
// checksum. Whatever the bytes are, load() either takes all of them or says what is wrong.
//
//   "kubewatch-store\n" version:u32 about:text options:text resourceVersion:text dictionary:text
//   patchDictionary:text count:u64 { encoding:u8 textSize:u32 stored:text }* checksum:u64
//
// Numbers are little endian; a text is its length as u32 and its bytes. The checksum (FNV-1a) is of
// all bytes before it.
#include <fmt/format.h>

#include "base/fnv.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "runtime/store_impl.hpp"

namespace kubewatch::runtime {

namespace {

constexpr std::string_view kStoreFileMagic = "kubewatch-store\n";
constexpr std::uint32_t kVersion = 2;
constexpr std::size_t kPiece = 256U << 10U;
constexpr std::uint32_t kMaxText = 128U << 20U;  // of one object
constexpr std::size_t kChecksumBytes = 8;
constexpr unsigned kReduced = 0x80;  // beside the encoding: metadata only
// Behind the options, where no kind can look like it: what the file holds was undone by the server.
constexpr std::string_view kUndonePast = " past=undone";

// Of "... type=ex.io/v1 Website" the version; "" where it is not what describe() makes.
std::string_view version_in(std::string_view description) {
  const auto type = description.rfind(" type=");
  if (type == std::string_view::npos) return "";
  const auto slash = description.find('/', type);
  const auto from = slash == std::string_view::npos ? type + 6 : slash + 1;
  const auto to = description.find(' ', from);
  return to == std::string_view::npos ? "" : description.substr(from, to - from);
}

// The same but for the version of the kind.
bool differ_in_version(std::string_view saved, std::string_view wanted) {
  const std::string_view before = version_in(saved);
  const std::string_view now = version_in(wanted);
  if (before.empty() || now.empty()) return false;
  const auto around = [](std::string_view text, std::string_view version) {
    const auto at = static_cast<std::size_t>(version.data() - text.data());
    return std::pair(text.substr(0, at), text.substr(at + version.size()));
  };
  return around(saved, before) == around(wanted, now);
}

// "it was made with managedFields=false, this is managedFields=true".
std::string other_options(std::string_view saved, const std::string& wanted) {
  const auto before = base::split(saved, ' ');
  const auto now = base::split(wanted, ' ');
  std::vector<std::string> was;
  std::vector<std::string> is;
  for (std::size_t i = 0; i < std::max(before.size(), now.size()); ++i) {
    const std::string one = i < before.size() ? before[i] : "";
    const std::string other = i < now.size() ? now[i] : "";
    if (one == other) continue;
    was.push_back(one);
    is.push_back(other);
  }
  return fmt::format("of another watch of the same objects: it was made with {}, this is {}",
                     base::join(was, " "), base::join(is, " "));
}

class Writer {
 public:
  using Sink = std::function<Result<void>(std::string_view)>;
  explicit Writer(const Sink& sink) : sink_(sink) {}

  void bytes(std::string_view text) {
    piece_.append(text);
    if (piece_.size() >= kPiece) flush();
  }
  void number(std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) piece_.push_back(static_cast<char>(value >> (8 * i)));
  }
  void text(std::string_view text) {
    number(text.size(), 4);
    bytes(text);
  }
  Result<void> finish() {
    flush();
    number(checksum_, kChecksumBytes);
    flush();
    return std::move(result_);
  }

 private:
  void flush() {
    checksum_ = base::fnv1a64(piece_, checksum_);
    if (result_.ok()) result_ = sink_(piece_);
    piece_.clear();
  }

  const Sink& sink_;
  std::string piece_;
  std::uint64_t checksum_ = base::kFnvStart64;
  Result<void> result_;
};

// Reading past the end gives zeros and sets failed().
class FileReader {
 public:
  explicit FileReader(std::string_view bytes) : left_(bytes) {}

  std::string_view bytes(std::size_t size) {
    if (size > left_.size()) failed_ = true;
    if (failed_) return {};
    const std::string_view out = left_.substr(0, size);
    left_.remove_prefix(size);
    return out;
  }
  std::uint64_t number(std::size_t size) {
    std::uint64_t out = 0;
    const std::string_view raw = bytes(size);
    for (std::size_t i = 0; i < raw.size(); ++i) {
      out |= static_cast<std::uint64_t>(static_cast<unsigned char>(raw[i])) << (8 * i);
    }
    return out;
  }
  std::string_view text() { return bytes(number(4)); }
  bool failed() const { return failed_; }
  bool at_end() const { return left_.empty(); }

 private:
  std::string_view left_;
  bool failed_ = false;
};

Error damaged(const std::string& what) {
  return Error(ErrorKind::invalid, "the saved cache is " + what);
}

// One saved record: its text, and whether it is all of the object. Errors: invalid.
Result<PreparedObject> read_record(FileReader& in, const StoreCodec& codec) {
  const auto head = static_cast<unsigned>(in.number(1));
  const auto encoding = static_cast<Encoding>(head & ~kReduced);
  const auto size = static_cast<std::uint32_t>(in.number(4));
  const std::string_view stored = in.text();
  if (in.failed() || size > kMaxText) return damaged("damaged: a record has an absurd size");
  std::string text = codec.decompress(encoding, stored, size);
  if (text.size() != size) return damaged("damaged: a record cannot be decoded");
  PreparedObject out;
  out.json = std::move(text);
  if ((head & kReduced) != 0) out.reduced = "when it was saved";
  return out;
}

}  // namespace

// What is kept of an object depends on these.
std::string Store::Impl::describe(const StoreOptions& options) {
  return fmt::format("strip={} project={} managedFields={} content={} type={}",
                     base::join(options.strip, ","), base::join(options.project, ","),
                     options.keep_managed_fields, static_cast<int>(options.content),
                     options.type.str());
}

Result<void> Store::save(const std::string& about,
                         const std::function<Result<void>(std::string_view)>& sink) const {
  const Impl& impl = *impl_;
  if (!impl.ready)
    return Error(ErrorKind::invalid, "the cache is not complete yet, nothing to save");
  Writer out(sink);
  out.bytes(kStoreFileMagic);
  out.number(kVersion, 4);
  out.text(about);
  out.text(impl.undone_past ? impl.held_as + std::string(kUndonePast) : impl.held_as);
  out.text(impl.resource_version);
  out.text(impl.codec.dictionary_bytes());
  out.text(impl.codec.patch_dictionary_bytes());
  out.number(impl.slots.current_count(), 8);
  for (SlotId id = 0; id < impl.slots.limit(); ++id) {
    if (!impl.slots[id].current) continue;
    // Each by itself, under the one dictionary that is saved.
    const std::string whole = impl.full_text(*impl.slots[id].current);
    const Encoded encoded = impl.codec.compress(whole);
    const bool dictionary = encoded.encoding >= kFirstDictionary;
    const unsigned reduced = impl.slots[id].current->reduced() ? kReduced : 0U;
    out.number((dictionary ? kFirstDictionary : encoded.encoding) | reduced, 1);
    out.number(whole.size(), 4);
    out.text(encoded.bytes);
  }
  return out.finish();
}

Result<void> Store::load(const std::string& about, std::string_view bytes) {
  if (impl_->ready || impl_->initializing) {
    return Error(ErrorKind::invalid, "a saved cache is loaded before the first list only");
  }
  if (bytes.substr(0, kStoreFileMagic.size()) != kStoreFileMagic)
    return damaged("not one: it begins otherwise");
  if (bytes.size() < kStoreFileMagic.size() + kChecksumBytes) return damaged("cut short");
  const std::string_view content = bytes.substr(0, bytes.size() - kChecksumBytes);
  FileReader trailer(bytes.substr(content.size()));
  FileReader in(content.substr(kStoreFileMagic.size()));
  if (const auto version = in.number(4); version != kVersion) {
    return damaged(fmt::format("of version {}, this program reads version {}", version, kVersion));
  }
  if (trailer.number(kChecksumBytes) != base::fnv1a64(content)) {
    return damaged("damaged or cut short: its checksum is wrong");
  }
  const std::string_view saved_about = in.text();
  std::string_view saved_options = in.text();
  const bool undone_past = saved_options.ends_with(kUndonePast);
  if (undone_past) saved_options.remove_suffix(kUndonePast.size());
  if (saved_about != about) return damaged(fmt::format("of another watch: {}", saved_about));
  const std::string wanted = impl_->described;
  const bool other_version = saved_options != wanted && differ_in_version(saved_options, wanted);
  if (saved_options != wanted && !other_version) {
    return damaged(other_options(saved_options, wanted));
  }
  const std::string version(in.text());
  const std::string_view dictionary = in.text();
  const std::string_view patches = in.text();
  auto fresh = std::make_shared<Impl>(impl_->options);
  if (!dictionary.empty() && !fresh->codec.adopt(dictionary, patches)) {
    return damaged("damaged: its dictionary cannot be used");
  }
  fresh->named = std::move(impl_->named);
  fresh->trained_ratio = 1;  // until it is known
  auto loaded = fresh->load_records(
      [&]() -> Result<PreparedObject> { return read_record(in, fresh->codec); }, in.number(8));
  if (loaded.ok() && (in.failed() || !in.at_end())) loaded = damaged("damaged: its end is missing");
  if (!loaded.ok()) {
    impl_->named = std::move(fresh->named);
    for (auto& index : impl_->named) index.index = TermIndex();
    return loaded;
  }
  fresh->finish(version, nullptr);
  fresh->held_as = saved_options;
  fresh->undone_past = undone_past;
  const auto waiting = std::move(impl_->on_ready);
  impl_ = std::move(fresh);
  for (const auto& callback : waiting) callback();  // they read this store
  return {};
}

Result<void> Store::Impl::load_records(const std::function<Result<PreparedObject>()>& next,
                                       std::uint64_t count) {
  begin(false);
  for (std::uint64_t i = 0; i < count; ++i) {
    KW_ASSIGN(PreparedObject object, next());
    if (const auto end = object.json.find(kManagersSeparator); end != std::string::npos) {
      object.managers = object.json.substr(end + 1);
      object.json.resize(end);
    }
    auto meta = core::parse_meta(object.json);
    if (!meta.ok() || !Ingest::names(*meta)) {
      return damaged("damaged: a record is no object");
    }
    object.meta = std::move(*meta);
    if (slots.find(object.meta.namespace_, object.meta.name) != SlotTable::kNone) {
      return damaged("damaged: it holds an object twice");
    }
    stage_first(object);
  }
  note_loaded();
  return {};
}

}  // namespace kubewatch::runtime
