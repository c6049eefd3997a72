// The same for the test cases: with Catch2.
#pragma once

#include "precompiled_library.hpp"
#include "support/catch.hpp"
