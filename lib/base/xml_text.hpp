// A text as it stands in XML. Nothing else of XML is known here: reports write their own elements.
#pragma once

#include <string>
#include <string_view>

namespace kubewatch::base {

// For the content of an element and for attributes in double quotes. Line breaks are kept there as
// well (&#10;); each character that XML 1.0 has no way to say (other control characters but the
// tab, U+FFFE, U+FFFF) becomes a "?", and so does each byte that is no UTF-8.
std::string xml_text(std::string_view text);

}  // namespace kubewatch::base
