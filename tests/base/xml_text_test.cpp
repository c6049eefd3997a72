// Texts in XML.
#include "base/xml_text.hpp"

#include "support/catch.hpp"

using namespace kubewatch;

TEST_CASE("what means something in XML is written so that it means itself") {
  CHECK(base::xml_text("a <b> & \"c\" 'd'") == "a &lt;b&gt; &amp; &quot;c&quot; 'd'");
  CHECK(base::xml_text("&amp;") == "&amp;amp;");
  CHECK(base::xml_text("größe ✓") == "größe ✓");
  CHECK(base::xml_text("").empty());
}

TEST_CASE("line breaks stay in attributes, and control characters are none in XML") {
  CHECK(base::xml_text("a\nb\tc") == "a&#10;b\tc");
  CHECK(base::xml_text(std::string_view("\x1b[31m\r\0x", 8)) == "?[31m??x");
}

TEST_CASE("what is no character of XML, or no UTF-8, does not break the document") {
  CHECK(base::xml_text("a\xEF\xBF\xBE"
                       "b\xEF\xBF\xBF"
                       "c") == "a?b?c");
  CHECK(base::xml_text("\xEF\xBF\xBD \x7F \xF0\x9F\x98\x80") ==
        "\xEF\xBF\xBD \x7F \xF0\x9F\x98\x80");
  CHECK(base::xml_text("a\xED\xA0\x80<") == "a???&lt;");  // a surrogate
  CHECK(base::xml_text("\xFF<\xC3") == "?&lt;?");
  CHECK(base::xml_text("\xC0\xBC"
                       "b\xE2\x9C") == "??b??");  // overlong, cut off
}
