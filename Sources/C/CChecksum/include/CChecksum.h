// CRC-32C (Castagnoli), the checksum of iSCSI, ext4 and SCTP: RFC 3720, section 12.1 and appendix
// B.4. A C target, because Swift has no access to the processor's instruction for it.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Extends the checksum `before` (0 for the first bytes) by `byteCount` bytes, with the processor's
/// instruction if it has one (SSE4.2, ARMv8 CRC).
uint32_t fb_crc32c(uint32_t before, const void *bytes, size_t byteCount);

/// Like fb_crc32c, but by tables alone, as on a processor without the instruction.
uint32_t fb_crc32c_by_table(uint32_t before, const void *bytes, size_t byteCount);

/// Whether this processor has the instruction.
bool fb_crc32c_is_accelerated(void);
