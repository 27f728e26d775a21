// A camera's driver inside of this process: it answers the calls of Video4Linux (ioctl) as the
// camera of the tests does, with the answers changed by an input.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Plugs in a camera, /proc/self/fd/77, whose answers the bytes change, until the next call.
/// - kind: which of the tests' cameras: of memory, planes, and encoding.
void fake_driver_begin(uint8_t kind, const uint8_t *bytes, size_t count);
