#include "cli/watch/object_print.hpp"

#include <sstream>
#include <utility>

#include "base/strings.hpp"
#include "cli/printers/custom_columns.hpp"
#include "cli/printers/object_printer.hpp"

namespace kubewatch::cli::watch {

namespace {

using Kind = OutputFormat::Kind;

Result<std::string> print_name(const Event& event, WallTime) {
  return base::escape_for_terminal(object_name(event.source().type, event.change().meta.name)) +
         "\n";
}

// jsonpath and jq; each event ends its line, whatever the template says.
ObjectView::Print printer_print(std::unique_ptr<ObjectPrinter> printer) {
  return [printer = std::shared_ptr<ObjectPrinter>(std::move(printer))](
             const Event& event, WallTime now) -> Result<std::string> {
    std::ostringstream out;
    const PrintedObject object(event.source().type, event.object());
    KW_TRY(printer->print_one(out, object, now));
    std::string text = std::move(out).str();
    if (!text.empty() && text.back() != '\n') text += '\n';
    return text;
  };
}

// EVENT, then the columns that were asked for.
class CustomColumnsView : public View {
 public:
  CustomColumnsView(CustomColumns columns, bool headers)
      : columns_(std::move(columns)), table_(headers_of(columns_), headers, kEventWidth) {}

  Result<void> event(const Event& event, WallTime, std::string& out) override {
    const bool initial = event.change().initial;
    std::vector<std::string> row = {initial ? "INITIAL"
                                            : std::string(event_name(event.change().type))};
    for (std::string& cell : columns_.cells(event.object())) row.push_back(std::move(cell));
    table_.add(std::move(row));
    if (table_.waiting() >= kMostWaitingRows) out += table_.text();
    return {};
  }
  void synced(const SourceInfo&, std::size_t, std::string&) override {}
  void gap(const SourceInfo&, std::string&) override { table_.add_mark({"GAP"}); }
  void flush(std::string& out) override { out += table_.text(); }

 private:
  static std::vector<std::string> headers_of(const CustomColumns& columns) {
    std::vector<std::string> out = {"EVENT"};
    for (const std::string& header : columns.headers()) out.push_back(header);
    return out;
  }

  CustomColumns columns_;
  EventTable table_;
};

}  // namespace

Result<std::unique_ptr<View>> make_object_view(const OutputFormat& format,
                                               const ViewOptions& options) {
  switch (format.kind) {
    case Kind::name: return std::unique_ptr<View>(std::make_unique<ObjectView>(print_name));
    case Kind::custom_columns: {
      KW_ASSIGN(auto columns, CustomColumns::of_format(format.text));
      return std::unique_ptr<View>(
          std::make_unique<CustomColumnsView>(std::move(columns), options.headers));
    }
    default: break;
  }
  PrintFlags flags;
  flags.show_managed_fields = options.show_managed_fields;
  PrinterSetup setup;
  setup.terminal = options.terminal;
  KW_ASSIGN(auto printer, ObjectPrinter::make(format, flags, std::move(setup)));
  return std::unique_ptr<View>(std::make_unique<ObjectView>(printer_print(std::move(printer))));
}

}  // namespace kubewatch::cli::watch
