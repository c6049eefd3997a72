// What a command that is told to end still ends of logging in. Of the whole process, which has one
// thread: whoever ends it does not know the transports.
#pragma once

namespace kubewatch::client {

// The requests that wait for a login now end in the next turn of their loop: canceled. The server
// has done nothing of what they ask for. Requests that come later wait as ever.
void cancel_login_waits();

// Programs that log in are killed with their process groups, and nobody is told: before an _exit,
// which calls no destructor.
void kill_login_programs();

}  // namespace kubewatch::client
