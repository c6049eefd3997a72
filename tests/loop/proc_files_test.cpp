#include "loop/proc_files.hpp"

#include <unistd.h>

#include <algorithm>

#include "loop/process_table.hpp"
#include "support/catch.hpp"

using namespace kubewatch::loop;

TEST_CASE("processes are listed from a number on, and one of them is this one") {
  const auto all = pids_from(0);
  CHECK(std::find(all.begin(), all.end(), getpid()) != all.end());
  for (const pid_t pid : pids_from(getpid())) CHECK(pid >= getpid());
}

TEST_CASE("the row of a process says who it is") {
  const auto row = process_row(getpid());
  REQUIRE(row);
  CHECK(row->pid == getpid());
  CHECK(row->parent == getppid());
  CHECK(row->group == getpgrp());
  CHECK(row->session == getsid(0));
  CHECK(row->start > 0);
  CHECK(read_proc(getpid(), "comm") == row->name + "\n");
  CHECK_FALSE(row->zombie());
}

TEST_CASE("a file of a process that is not there is empty") {
  CHECK(read_proc(getpid(), "nosuch").empty());
  CHECK_FALSE(process_row(-1));
}
