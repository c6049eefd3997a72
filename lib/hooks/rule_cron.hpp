// Checks five-field cron expressions ("*/5 * * * *", "TZ=Europe/Rome 0 3 * * mon"). Does not
// compute times.
#pragma once

#include <string>
#include <string_view>

namespace kubewatch::hooks {

// "" when valid, else what is wrong with it.
std::string check_cron(std::string_view text);

}  // namespace kubewatch::hooks
