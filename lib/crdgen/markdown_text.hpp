// Text of a CRD in Markdown: what is somebody else's neither ends its cell nor opens anything. Of
// the pages themselves nothing: markdown.hpp, diff.hpp.
#pragma once

#include <string>

namespace kubewatch::crdgen {

enum class MarkdownPlace { table, text };

// Prose, in a table or outside: emphasis and links that its author wrote are theirs.
std::string markdown_text(const std::string& text);
// What is to be read as it stands: a pattern, a rule, a value.
std::string markdown_exact(const std::string& text);
// As a code span.
std::string markdown_code(const std::string& text, MarkdownPlace place);

}  // namespace kubewatch::crdgen
