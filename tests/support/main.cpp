// The one translation unit that compiles Catch2's runner.
#define CATCH_CONFIG_MAIN
#include "support/catch.hpp"
