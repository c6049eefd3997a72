// How an object becomes a record and a record an object again. What the record says itself (name,
// uid, resourceVersion) stands in its text as a mark. An object that has siblings, other objects of
// the same owner, is kept as what it differs in from one of them (its base): of a Pod that leaves
// ids, addresses and times. A base is a record like any other and lives as long as somebody needs
// it.
#include <algorithm>

#include "runtime/store_impl.hpp"
#include "runtime/text_patch.hpp"

namespace kubewatch::runtime {

namespace {

// Valid JSON escapes control characters. Should a text hold one all the same, it gets no marks.
constexpr char kMarks[] = {'\x01', '\x02', '\x03'};
constexpr std::size_t kLargestPatched = 256U << 10U;
constexpr std::size_t kSmallestPatched = 128;

// The first place of the value as a whole string.
std::size_t find_quoted(std::string_view text, std::string_view value) {
  if (value.empty()) return std::string_view::npos;
  for (std::size_t at = text.find(value); at != std::string_view::npos;
       at = text.find(value, at + 1)) {
    const bool whole = at > 0 && text[at - 1] == '"' && at + value.size() < text.size() &&
                       text[at + value.size()] == '"';
    if (whole) return at;
  }
  return std::string_view::npos;
}

bool holds_marks(std::string_view text) {
  return std::any_of(std::begin(kMarks), std::end(kMarks),
                     [&](char mark) { return text.find(mark) != std::string_view::npos; });
}

void put_marks(std::string& text, const Record::Identity& identity) {
  const std::string_view values[] = {identity.name, identity.uid, identity.resource_version};
  for (std::size_t i = 0; i < std::size(values); ++i) {
    const std::size_t at = find_quoted(text, values[i]);
    if (at != std::string::npos) text.replace(at, values[i].size(), 1, kMarks[i]);
  }
}

std::string without_marks(std::string text, const Record& record) {
  if (!record.marked()) return text;
  const auto put = [&](char mark, std::string_view value) {
    const std::size_t at = text.find(mark);
    if (at != std::string::npos) text.replace(at, 1, value);
  };
  put(kMarks[0], record.name());
  put(kMarks[1], record.uid());
  put(kMarks[2], record.resource_version());
  return text;
}

// Into a text whose memory may be there already.
void decode_marked(const Record& record, const Dictionary* dictionary, std::string_view base_text,
                   std::string& out) {
  if (!record.is_patch()) {
    return StoreCodec::decompress_with(dictionary, record.encoding(), record.bytes(),
                                       record.text_size(), out);
  }
  out.clear();
  if (dictionary == nullptr) return;
  std::string patch;
  StoreCodec::decompress_patch(*dictionary, record.bytes(), patch);
  if (!apply_patch(base_text, patch, record.text_size(), out)) out.clear();
}

std::string first_owner(const core::ObjectMeta& meta) {
  return meta.owners.empty() ? std::string() : meta.owners.front().uid;
}

}  // namespace

std::string decode_record(const Record& record, const Dictionary* dictionary) {
  std::string base_text, text;
  if (record.is_patch()) decode_marked(*record.base(), dictionary, {}, base_text);
  decode_marked(record, dictionary, base_text, text);
  return without_marks(std::move(text), record);
}

const std::string& Store::Impl::text_of_base(const RecordPtr& base) const {
  if (last_base.get() != base.get()) {
    last_base = base;
    decode_marked(*base, codec.dictionary(base->encoding()).get(), {}, last_base_text);
  }
  return last_base_text;
}

std::string Store::Impl::marked_text(const Record& record) const {
  std::string_view base_text;
  if (record.is_patch()) base_text = text_of_base(RecordPtr::share(record.base()));
  std::string out;
  decode_marked(record, codec.dictionary(record.encoding()).get(), base_text, out);
  return out;
}

std::string Store::Impl::full_text(const Record& record) const {
  return without_marks(marked_text(record), record);
}

std::optional<StoredObject> Store::Impl::object(const Record& record) const {
  return object_of_text(full_text(record), record.reduced());
}

std::string Store::Impl::text(const Record& record) const {
  std::string out = full_text(record);
  if (const auto end = out.find(kManagersSeparator); end != std::string::npos) out.resize(end);
  return out;
}

// A record of the object itself or of a sibling that the newest dictionary encodes and that has no
// base: what the object's present record is based on, else what the youngest sibling is.
RecordPtr Store::Impl::find_base(SlotId id, const std::string& owner_uid) const {
  if (!codec.trained()) return nullptr;
  const auto usable = [&](const Record* record) -> RecordPtr {
    if (record == nullptr) return nullptr;
    const Record* base = record->base() != nullptr ? record->base() : record;
    if (base->encoding() != codec.best() || base->text_size() > kLargestPatched) return nullptr;
    return RecordPtr::share(base);
  };
  if (id != SlotTable::kNone && slots[id].current && slots[id].current->base() != nullptr) {
    if (auto base = usable(slots[id].current.get())) return base;
  }
  if (owner_uid.empty()) return nullptr;
  const SlotSet* siblings = terms.find(term_of(TermKind::owner, owner_uid));
  if (siblings == nullptr) return nullptr;
  const SlotId youngest = siblings->last();
  if (youngest == id) return nullptr;
  return usable(slots[youngest].current ? slots[youngest].current.get() : slots.staged(youngest));
}

std::optional<std::string> Store::Impl::patch_to(const RecordPtr& base,
                                                 std::string_view marked) const {
  if (marked.size() < kSmallestPatched || marked.size() > kLargestPatched) return std::nullopt;
  std::string patch = make_patch(text_of_base(base), marked);
  if (patch.size() * kAlike > marked.size()) return std::nullopt;
  return patch;
}

// As a patch where that is much smaller. The encoded bytes are valid until the next call.
void Store::Impl::encode(SlotId id, const std::string& owner_uid, std::string_view marked,
                         Record::Content& content) const {
  content.text_size = marked.size();
  if (RecordPtr base = find_base(id, owner_uid)) {
    const auto patch = patch_to(base, marked);
    const auto encoded = patch ? codec.compress_patch(*patch) : std::nullopt;
    if (encoded) {
      content.encoded = *encoded;
      content.base = std::move(base);
      return;
    }
  }
  content.encoded = codec.compress(marked);
}

RecordPtr Store::Impl::make_record(SlotId id, const PreparedObject& object) {
  const Record::Identity identity{object.meta.name, object.meta.uid, object.meta.resource_version};
  // Kept from one to the next: it is as long as an object, and thrown away.
  std::string& text = work_text;
  text = object.json;
  if (!object.managers.empty()) text.append(1, kManagersSeparator).append(object.managers);
  Record::Content content;
  content.marked = !holds_marks(text) && !holds_marks(identity.name) &&
                   !holds_marks(identity.uid) && !holds_marks(identity.resource_version);
  if (content.marked) put_marks(text, identity);
  content.reduced = !object.reduced.empty();
  content.terms = hash_of(terms_of(object.meta));
  if (!codec.trained() || may_wait(text.size())) {
    // note_new() sees to it that it is encoded when there is a dictionary, or more of its like.
    content.text_size = text.size();
    content.encoded = {kPlain, text};
    content.base = find_base(id, first_owner(object.meta));
  } else {
    encode(id, first_owner(object.meta), text, content);
  }
  RecordPtr record = Record::make(identity, content);
  if (text.capacity() > kLargestPatched) text = std::string();
  return record;
}

RecordPtr Store::Impl::recoded(SlotId id, const Record& record) const {
  std::string owner;
  if (record.base() == nullptr || record.base()->encoding() != codec.best()) {
    if (const auto meta = core::parse_kept_meta(text(record)); meta.ok())
      owner = first_owner(*meta);
  }
  Record::Content content;
  const bool plain = record.encoding() == kPlain;
  const std::string marked = plain ? std::string() : marked_text(record);
  encode(id, owner, plain ? record.bytes() : std::string_view(marked), content);
  return Record::recoded(record, content);
}

}  // namespace kubewatch::runtime
