// The one instantiation of nlohmann::json that base/json.hpp promises.
#include "base/json.hpp"

template class nlohmann::basic_json<>;
