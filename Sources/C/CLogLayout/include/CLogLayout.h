// The files of a shared log: their ABI, declared once.
//
// docs/design/log-segment.md has the diagram and the rules. This header has no behaviour. Little
// endian, 64-bit. Any change raises LG_ABI_VERSION.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum {
  LG_ABI_VERSION = 1,
  LG_ROLE_BYTES = 32,
  LG_SESSION_BYTES = 48,
  // Offset of the first record: in a segment, whose records are mapped, on a page of their own.
  LG_SEGMENT_RECORDS = 4096,
  LG_FILE_RECORDS = 256,
  // Offsets and sizes of records are multiples of this.
  LG_ALIGNMENT = 16,
  // The maximum size of a record.
  LG_RECORD_LIMIT = 65536,
};
static const uint64_t LG_MAGIC = UINT64_C(0x3130474f4c534246);  // "FBSLOG01"

// Header of a segment or file: the process run that wrote it. Never changes.
struct lg_header {
  uint64_t magic;
  uint32_t abi_version;
  uint32_t records_at;  // LG_SEGMENT_RECORDS or LG_FILE_RECORDS
  uint64_t nonce;       // random, for each run
  uint64_t position;    // of the first record; 0 in a segment
  uint64_t capacity;    // bytes of records in a segment; 0 in a file
  uint8_t boot[16];     // the machine's boot_id
  uint32_t pid;
  uint32_t reserved0;
  uint64_t wall_ns;       // CLOCK_REALTIME when the run began
  uint64_t monotonic_ns;  // CLOCK_MONOTONIC at the same moment
  uint8_t role_bytes;
  uint8_t session_bytes;
  uint8_t reserved1[14];
  char role[LG_ROLE_BYTES];
  char session[LG_SESSION_BYTES];
  uint8_t reserved2[76];
  uint32_t crc;  // CRC-32C of all preceding bytes
};

// Header of a record; label, source, message and metadata follow, without gaps.
struct lg_record {
  uint64_t mark;         // nonce ^ position; stored last
  uint32_t byte_count;   // without the padding to LG_ALIGNMENT; or LG_FILLER, and bytes
  uint32_t crc;          // CRC-32C of its bytes from LG_CHECKED on; for a filler: ~bytes
  uint64_t sequence;     // from 1
  uint64_t wall_ns;      // CLOCK_REALTIME
  uint64_t monotonic_ns; // CLOCK_MONOTONIC
  uint8_t level;         // 0 trace … 6 critical
  uint8_t flags;         // LG_CUT
  uint16_t label_bytes;
  uint32_t message_bytes;
  uint32_t metadata_bytes;
  uint16_t source_bytes;
  uint16_t reserved0;
  uint32_t source_line;
  uint32_t reserved1;
};

// A metadata field; its key and its value follow, without gaps.
struct lg_field {
  uint16_t flags;  // LG_PRIVATE
  uint16_t key_bytes;
  uint16_t value_bytes;
};

enum {
  // In byte_count: not a line, but padding up to the end of a segment, at least 16 bytes.
  LG_FILLER = 1 << 30,
  LG_CUT = 1,      // of a record: truncated, because it was too long
  LG_PRIVATE = 1,  // of a field: never shown outside the group

  LG_HEADER_BYTES = sizeof(struct lg_header),
  LG_AT_CRC = offsetof(struct lg_header, crc),
  LG_RECORD_BYTES = sizeof(struct lg_record),
  LG_CHECKED = offsetof(struct lg_record, sequence),
  LG_FIELD_BYTES = sizeof(struct lg_field),
};
_Static_assert(LG_HEADER_BYTES == 256 && LG_AT_CRC == 252, "header");
_Static_assert(offsetof(struct lg_header, nonce) == 16, "header");
_Static_assert(offsetof(struct lg_header, boot) == 40, "header");
_Static_assert(offsetof(struct lg_header, wall_ns) == 64, "header");
_Static_assert(offsetof(struct lg_header, role_bytes) == 80, "header");
_Static_assert(offsetof(struct lg_header, role) == 96, "header");
_Static_assert(offsetof(struct lg_header, session) == 128, "header");
_Static_assert(LG_RECORD_BYTES == 64 && LG_CHECKED == 16, "record");
_Static_assert(offsetof(struct lg_record, monotonic_ns) == 32, "record");
_Static_assert(offsetof(struct lg_record, level) == 40, "record");
_Static_assert(offsetof(struct lg_record, metadata_bytes) == 48, "record");
_Static_assert(offsetof(struct lg_record, source_line) == 56, "record");
_Static_assert(LG_FIELD_BYTES == 6, "field");
