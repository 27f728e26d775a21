// The desktop's service that keeps its screen saver and its locker off (org.freedesktop.ScreenSaver
// on the session bus: the "Idle Inhibition Service" of freedesktop.org), by libsystemd's sd-bus.
//
// The library is loaded when it is first used: a machine without it has no desktop to ask, or one
// whose bus this does not speak to, and everything else works there.
#pragma once

#include "CScreenCast.h"

/// A request to the service, and its outcome.
struct session_inhibition;

/// Asks the service. Blocks until it answers, at most some ten seconds; call it on a thread of its
/// own. Everything is then done on that thread.
/// - Returns: NULL without memory.
struct session_inhibition *session_inhibit_saver(const char *application, const char *reason);

/// Why the saver is not kept off; NULL if it is. The text belongs to the inhibition, and may be of
/// another program.
const char *session_inhibition_failure(const struct session_inhibition *inhibition);

/// Ends it and closes the connection, with which the service would end it too.
void session_inhibition_end(struct session_inhibition *inhibition);
