// A Wayland compositor in this process whose answers come from bytes: those of the protocol, with
// events of any kind before, after and instead of them.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Starts the compositor, on a thread of its own. Without bytes it answers as a real one does.
/// - Parameter bytes: valid until ``played_compositor_end``.
/// - Returns: a connection to it, owned by the caller; -1 if it cannot start.
int played_compositor_begin(const uint8_t *bytes, size_t count);

/// Waits until the compositor has ended, which the end of the connection makes it.
void played_compositor_end(void);
