// The files of named notifications: their ABI, declared once.
//
// docs/design/notifications.md has the diagram and the rules. Any member may have written any value
// into any word. This header has no behaviour. Little endian, 64-bit. Any change raises
// NC_ABI_VERSION.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum {
  NC_ABI_VERSION = 1,
  NC_ROWS = 16384,
  NC_NAME_BYTES = 512,
  NC_SEATS = 1024,
  NC_SEAT_WORDS = NC_SEATS / 64,
};
static const uint64_t NC_ROWS_MAGIC = UINT64_C(0x3130574f52594e46);   // "FNYROW01"
static const uint64_t NC_SEATS_MAGIC = UINT64_C(0x3130544153594e46);  // "FNYSAT01"

// Header of both kinds of file. All zeros means that the file has not been initialised.
struct nc_header {
  uint64_t magic;
  uint32_t abi_version;
  uint32_t reserved0;
  // In `seats`: how many words of a row of `observed` can have bits set.
  uint64_t seat_words;
};

// A name: one cache line.
struct nc_row {
  uint64_t hash;  // 0: a free row
  uint64_t generation;
  uint64_t state;
  uint64_t last_post_ns;  // CLOCK_MONOTONIC
  uint64_t last_poster;   // process id, and user id from bit 32 on, as written by the poster
  uint32_t name_bytes;    // 0 until the name is complete
  uint32_t reserved0;
  uint64_t reserved1[2];
};

// `rows`: row 0 belongs to no name; its generation counts the names that were added.
struct nc_rows {
  struct nc_header header;
  _Alignas(4096) struct nc_row rows[NC_ROWS];
  char names[NC_ROWS][NC_NAME_BYTES];
};

// A registration: one observing process, one cache line.
struct nc_seat {
  uint64_t armed;     // incremented before each sleep
  uint64_t tenure;    // incremented for each process that takes the registration
  uint32_t pid;       // for display
  uint32_t is_taken;  // 0 after its owner has released it
  uint64_t reserved0[5];
};

// `seats`: the processes of one user that observe names in one table.
struct nc_seats {
  struct nc_header header;
  _Alignas(4096) struct nc_seat seats[NC_SEATS];
  // Bit s % 64 of word s / 64 of row r: seat s observes row r.
  uint64_t observed[NC_ROWS][NC_SEAT_WORDS];
};

// `epoch`: incremented when a seat is taken.
struct nc_epoch {
  uint64_t epoch;
  uint64_t reserved0[511];
};

enum {
  NC_AT_MAGIC = offsetof(struct nc_header, magic),
  NC_AT_ABI_VERSION = offsetof(struct nc_header, abi_version),
  NC_AT_SEAT_WORDS = offsetof(struct nc_header, seat_words),

  NC_AT_ROWS = offsetof(struct nc_rows, rows),
  NC_AT_NAMES = offsetof(struct nc_rows, names),
  NC_ROW_BYTES = sizeof(struct nc_row),
  NC_ROWS_BYTES = sizeof(struct nc_rows),
  NC_ROW_AT_HASH = offsetof(struct nc_row, hash),
  NC_ROW_AT_GENERATION = offsetof(struct nc_row, generation),
  NC_ROW_AT_STATE = offsetof(struct nc_row, state),
  NC_ROW_AT_LAST_POST_NS = offsetof(struct nc_row, last_post_ns),
  NC_ROW_AT_LAST_POSTER = offsetof(struct nc_row, last_poster),
  NC_ROW_AT_NAME_BYTES = offsetof(struct nc_row, name_bytes),

  NC_AT_SEATS = offsetof(struct nc_seats, seats),
  NC_AT_OBSERVED = offsetof(struct nc_seats, observed),
  NC_SEAT_BYTES = sizeof(struct nc_seat),
  NC_SEATS_BYTES = sizeof(struct nc_seats),
  NC_SEAT_AT_ARMED = offsetof(struct nc_seat, armed),
  NC_SEAT_AT_TENURE = offsetof(struct nc_seat, tenure),
  NC_SEAT_AT_PID = offsetof(struct nc_seat, pid),
  NC_SEAT_AT_IS_TAKEN = offsetof(struct nc_seat, is_taken),

  NC_EPOCH_BYTES = sizeof(struct nc_epoch),
};
_Static_assert(NC_AT_MAGIC == 0 && NC_AT_ABI_VERSION == 8 && NC_AT_SEAT_WORDS == 16, "header");
_Static_assert(NC_ROW_BYTES == 64, "a row is a line");
_Static_assert(NC_ROW_AT_HASH == 0 && NC_ROW_AT_GENERATION == 8 && NC_ROW_AT_STATE == 16, "row");
_Static_assert(NC_ROW_AT_LAST_POST_NS == 24 && NC_ROW_AT_LAST_POSTER == 32, "row");
_Static_assert(NC_ROW_AT_NAME_BYTES == 40, "row");
_Static_assert(NC_AT_ROWS == 4096 && NC_AT_NAMES == 1052672, "rows");
_Static_assert(NC_ROWS_BYTES == 9441280, "rows");
_Static_assert(NC_SEAT_BYTES == 64, "a seat is a line");
_Static_assert(NC_SEAT_AT_ARMED == 0 && NC_SEAT_AT_TENURE == 8 && NC_SEAT_AT_PID == 16, "seat");
_Static_assert(NC_SEAT_AT_IS_TAKEN == 20, "seat");
_Static_assert(NC_AT_SEATS == 4096 && NC_AT_OBSERVED == 69632, "seats");
_Static_assert(NC_SEATS_BYTES == 2166784, "seats");
_Static_assert(NC_EPOCH_BYTES == 4096, "a page");
