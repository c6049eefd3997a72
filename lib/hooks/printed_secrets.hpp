// Secrets in what a hook printed, also where that is no valid output or does not count: the mask of
// its lines has to know them all the same (P6). Pure.
#pragma once

#include <string_view>

#include "base/json_fwd.hpp"
#include "hooks/secret_mask.hpp"

namespace kubewatch::hooks {

// What a patch puts into a Secret is as secret as the Secret.
void mask_patch(const Json& patch, SecretMask& mask);

// Somewhere in the text stands a word for one. That says little: it is for who expects none.
bool names_secret(std::string_view text);

// Of words that quote a Secret, or a part of one, in JSON: what stands under `data` and
// `stringData`.
void mask_quoted(std::string_view words, SecretMask& mask);

// Adds what is secret in the documents, lists and Results of the text, each document for itself. Of
// one that cannot be read it adds what stands under `data` and `stringData`. False: the mask may
// not know all, because a document cannot be read, or because its writer was ended (`cut`) and the
// text shows no end of a document.
bool mask_printed(std::string_view text, bool cut, SecretMask& mask);

}  // namespace kubewatch::hooks
