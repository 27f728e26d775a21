// The code of CPipeWire and CSessionBus that reads what other programs say, with a fuzzer's input
// in the place of libpipewire and libsystemd.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// Formats, metadata and memory of a producer's pictures.
void portal_kit_pictures(const uint8_t *bytes, size_t count);

/// Nodes, formats and buffers of sound.
void portal_kit_sound(const uint8_t *bytes, size_t count);

/// Answers and signals of a desktop's portal.
void portal_kit_bus(const uint8_t *bytes, size_t count);
