// CRC-32C (Castagnoli), the checksum of iSCSI, ext4 and SCTP: RFC 3720, section 12.1 and appendix
// B.4. A C target because the processor's own instruction for it cannot be reached from Swift.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The checksum of `byteCount` bytes that follow those whose checksum is `before` (0: none), with
/// the processor's instruction where it has one (SSE4.2, ARMv8 CRC).
uint32_t fb_crc32c(uint32_t before, const void *bytes, size_t byteCount);

/// The same by tables alone, as on a processor without the instruction.
uint32_t fb_crc32c_by_table(uint32_t before, const void *bytes, size_t byteCount);

/// Whether this processor has the instruction.
bool fb_crc32c_is_accelerated(void);
