// A text as it stands in XML. Nothing else of XML is known here: reports write their own elements.
#pragma once

#include <string>
#include <string_view>

namespace kubewatch::base {

// For the content of an element and for attributes in double quotes. Line breaks are kept there as
// well (&#10;); of other control characters, which XML 1.0 has no way to say, each but the tab
// becomes a "?". UTF-8 is taken as it is.
std::string xml_text(std::string_view text);

}  // namespace kubewatch::base
