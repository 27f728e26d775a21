// The shared-memory layout and the control messages of the frame bus: its ABI, declared once.
//
// docs/design/frame-ring.md has the diagram and the rules. Every word has exactly one writer. The
// Swift side accesses every field with its own atomic operations; this header has no behaviour.
// Little endian, 64-bit. Any change raises FB_ABI_VERSION, except a message that is sent only on
// request (FB_EXTRA_*): older peers ignore the request, and never make one; and a use of a reserved
// word whose 0 means what older peers do: they leave it 0, and never read it.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum {
  FB_ABI_VERSION = 5,
  FB_MAXIMUM_SUBSCRIBERS = 64,
  FB_MAXIMUM_HOLDS = 16,
  FB_MAXIMUM_PLANES = 4,
  FB_MAXIMUM_DAMAGE = 4,
  FB_MAXIMUM_RING_DEPTH = 1024,
  FB_LINE_BYTES = 64,
  FB_NAME_BYTES = 64,
  FB_APPLICATION_BYTES = 256,
  FB_DROP_REASONS = 6,
  FB_LATENCY_BUCKETS = 128,
};
#define FB_MAGIC UINT64_C(0x31305355424d5246) /* "FRMBUS01" */

// One published frame. Written by the publisher; `sequence` is 0 while the other fields change.
struct fb_descriptor {
  uint64_t sequence;
  uint32_t pool_generation;
  uint32_t slot;
  uint64_t payload_bytes;
  uint64_t format_epoch;
  int64_t pts_ns;
  uint64_t duration_ns;
  uint64_t captured_at_ns;
  uint64_t published_at_ns;
  // second line
  uint32_t flags;         // FB_FLAG_*
  uint16_t orientation;   // 1…8 as in TIFF and EXIF
  uint16_t damage_count;  // 0…4, or FB_DAMAGE_FULL
  uint64_t crop;          // four 16-bit numbers: x, y, width, height, from the low end
  uint64_t damage[FB_MAXIMUM_DAMAGE];
  uint32_t crc32c;        // of the payload, with FB_FLAG_CHECKSUMMED
  uint32_t reserved;
  uint64_t key_frame;     // sequence number of the newest key frame up to this one; 0: none
};
enum { FB_DAMAGE_FULL = 0xffff };
enum {
  FB_FLAG_KEY_FRAME = 1 << 0,
  FB_FLAG_DISCONTINUITY = 1 << 1,
  FB_FLAG_SILENCE = 1 << 2,
  FB_FLAG_PROTECTED = 1 << 3,
  FB_FLAG_REPEATED = 1 << 4,
  FB_FLAG_DROPPABLE = 1 << 5,
  FB_FLAG_CONFIGURATION = 1 << 6,
  FB_FLAG_REDUCED = 1 << 7,
  FB_FLAG_CHECKSUMMED = 1 << 30,
};
_Static_assert(sizeof(struct fb_descriptor) == 2 * FB_LINE_BYTES, "two lines");
_Static_assert(offsetof(struct fb_descriptor, published_at_ns) == 56, "first line");
_Static_assert(offsetof(struct fb_descriptor, flags) == 64, "second line");
_Static_assert(offsetof(struct fb_descriptor, crc32c) == 112, "after the damage");

// The format of a frame's bytes; one for each format epoch, so that frames need not repeat it.
struct fb_format {
  uint64_t epoch;
  uint32_t kind;          // 1 video, 2 app sound, 3 microphone, 4 data
  uint32_t fourcc;
  uint32_t width;
  uint32_t height;
  uint64_t byte_count;
  uint32_t plane_count;
  uint32_t color_space;   // H.273: primaries, transfer, matrix, range, from the low byte
  uint32_t rate_numerator;
  uint32_t rate_denominator;
  uint32_t plane_offsets[FB_MAXIMUM_PLANES];
  uint32_t plane_strides[FB_MAXIMUM_PLANES];
  // Sound only.
  uint32_t sample_format;  // as SampleFormat numbers them
  uint32_t sample_rate;
  uint32_t channel_count;
  uint32_t is_interleaved;
  uint64_t channel_mask;   // as in WAVEFORMATEXTENSIBLE
  uint64_t reserved[3];
};
_Static_assert(sizeof(struct fb_format) == 2 * FB_LINE_BYTES, "two lines");
_Static_assert(offsetof(struct fb_format, plane_strides) == 64, "second line");
_Static_assert(offsetof(struct fb_format, channel_mask) == 96, "end of sound");

// The board: written by the publisher alone, mapped read-only by subscribers. It is followed by
// `ring_depth` descriptors and then `ring_depth` formats.
struct fb_board {
  // Set once, before the board is shared, except for `state` and `finish_reason`.
  uint64_t magic;
  uint32_t abi_version;
  uint32_t ring_depth;
  uint64_t generation;
  uint32_t publisher_pid;
  uint32_t publisher_uid;
  uint32_t state;
  uint32_t finish_reason;
  uint64_t monotonic_anchor_ns;
  uint64_t wall_anchor_ns;
  uint32_t content;  // FB_CONTENT_*
  uint32_t reserved0;
  char stream[FB_NAME_BYTES];

  // The hot line, alone. Nothing in it is written after the cursor: subscribers fetch it then.
  uint64_t cursor;
  uint64_t published_bytes;  // payload bytes of all frames up to the cursor
  uint32_t newest_slot;      // slot to prefetch while the newest frame's descriptor is fetched
  uint32_t reserved1;
  uint64_t plain_since;      // from this frame on, second lines have defaults only; 0: unknown
  uint64_t reserved2[4];

  // Rarely written.
  uint64_t format_epoch;
  uint32_t pool_generation;
  uint32_t publisher_waiting;
  uint64_t abandoned;
  uint64_t wake_ups;
  uint64_t lossless_ended;
  uint64_t evictions;
  uint64_t rejected;        // connections closed for a malformed message
  uint64_t retained_bytes;  // memory of the existing pools

  // One word for each seat: FB_PLACE_*.
  uint32_t seats[FB_MAXIMUM_SUBSCRIBERS];

  // Futex word, incremented for each frame; read only by subscribers about to sleep. In a pair of
  // lines of its own, because processors fetch lines in pairs.
  uint32_t wake;
  uint32_t reserved3[31];
};
enum { FB_CONTENT_OTHER = 0, FB_CONTENT_SCREEN = 1, FB_CONTENT_WINDOW = 2 };
enum { FB_STATE_STARTING = 0, FB_STATE_LIVE = 1, FB_STATE_FINISHED = 2, FB_STATE_PAUSED = 3 };
enum {
  FB_SEAT_FREE = 0,
  FB_SEAT_TAKEN = 1,
  FB_SEAT_LOSSLESS = 2,
  FB_SEAT_LOSSLESS_ENDED = 3,
  FB_SEAT_EVICTED = 4,
};
_Static_assert(offsetof(struct fb_board, stream) == 64, "name");
_Static_assert(offsetof(struct fb_board, cursor) == 128, "hot line");
_Static_assert(offsetof(struct fb_board, format_epoch) == 192, "status line");
_Static_assert(offsetof(struct fb_board, seats) == 256, "seats");
_Static_assert(offsetof(struct fb_board, wake) == 512, "wake lines");
_Static_assert(sizeof(struct fb_board) == 640, "descriptors begin on a line of their own");

// A subscriber's page: written by that subscriber alone (the publisher sets `position` before it
// hands the page over), mapped read-only by the publisher, which trusts nothing in it.
struct fb_page {
  uint64_t holds[FB_MAXIMUM_HOLDS];
  uint64_t position;
  uint32_t reserved2;
  uint32_t progress;  // futex word: a lossless publisher sleeps on it
  uint32_t policy;    // FB_POLICY_*, for display
  uint32_t wait;      // FB_WAIT_*, for display
  // Feedback: how busy the subscriber is, in thousandths, and its requested frame rate, or 0/0.
  uint32_t utilization;
  uint32_t requested_rate_numerator;
  uint32_t requested_rate_denominator;
  uint32_t reserved0;
  // The largest picture and the highest rate it can use, in one word, from the low end: 16 bits of
  // width, 16 of height, and 32 of frames in 1000 seconds. 0 in a part: everything.
  uint64_t demand;
  uint64_t reserved1[2];
  uint64_t received;
  uint64_t dropped;
  uint64_t drops[FB_DROP_REASONS];  // the same by reason, FB_DROP_*
  // Frames by the time from publish to receive; docs/design/frame-ring.md defines the buckets.
  uint32_t latencies[FB_LATENCY_BUCKETS];
  // On a line that is written only around a sleep: the publisher reads it for each frame, and finds
  // it in its own cache while no subscriber sleeps.
  uint32_t waiting;  // FB_WAITING_*
  uint32_t reserved3[15];
};
enum {
  FB_WAITING_NOT = 0,
  FB_WAITING_FUTEX = 1,
  FB_WAITING_BELL = 2,
  FB_WAITING_SEMAPHORE = 3,
};
enum { FB_WAIT_FUTEX = 0, FB_WAIT_SPIN = 1, FB_WAIT_SEMAPHORE = 2, FB_WAIT_EVENT_DESCRIPTOR = 3 };
enum {
  FB_POLICY_LATEST = 0,
  FB_POLICY_KEEP_LATEST = 1,
  FB_POLICY_LOSSLESS = 2,
  FB_POLICY_EVERY_NTH = 3,
  FB_POLICY_KEY_FRAME_AWARE = 4,
};
enum {
  FB_DROP_LAPPED = 0,              // overwritten before it was received
  FB_DROP_PASSED_OVER = 1,         // skipped by the policy for a newer one
  FB_DROP_AWAITING_KEY_FRAME = 2,  // not decodable after a gap
  FB_DROP_UNREACHABLE = 3,         // in a pool from before this subscriber attached
  FB_DROP_CORRUPT = 4,             // its checksum was wrong
  FB_DROP_LOSSLESS_ENDED = 5,      // lost after lossless delivery ended
};
_Static_assert(offsetof(struct fb_page, position) == 128, "position line");
_Static_assert(offsetof(struct fb_page, demand) == 168, "a reserved word before");
_Static_assert(offsetof(struct fb_page, received) == 192, "statistics line");
_Static_assert(offsetof(struct fb_page, latencies) == 256, "latencies");
_Static_assert(offsetof(struct fb_page, waiting) == 768, "waiting line");
_Static_assert(sizeof(struct fb_page) == 832, "page");

// Control messages on the SOCK_SEQPACKET connection, each one packet of exactly its size.
struct fb_message_header {
  uint64_t magic;
  uint32_t abi_version;
  uint32_t kind;
};
enum {
  FB_MESSAGE_HELLO = 1,
  FB_MESSAGE_WELCOME = 2,   // reply to MAPPED; descriptors: board, pool, bell
  FB_MESSAGE_REFUSED = 3,
  FB_MESSAGE_POOL = 4,      // descriptor: pool
  FB_MESSAGE_POOL_ACK = 5,
  FB_MESSAGE_LOOK = 6,  // a short message: the board has changed for this subscriber
  FB_MESSAGE_INSPECT = 7,  // a short message; its value is FB_EXTRA_*
  FB_MESSAGE_STATUS = 8,
  FB_MESSAGE_SEATED = 9,             // reply to WELCOME
  FB_MESSAGE_INSPECT_SUBSCRIBER = 10,  // a short message; its value is the seat
  FB_MESSAGE_SUBSCRIBER_STATUS = 11,
  FB_MESSAGE_PAGE = 12,    // a short message; descriptors: page, semaphore if requested
  FB_MESSAGE_MAPPED = 13,  // reply to PAGE: its memory is mapped, and may be sealed
  // On request: after WELCOME and at each change, or before STATUS.
  FB_MESSAGE_ANNOTATION = 14,
  FB_MESSAGE_ANNOTATE = 15,  // an annotation, from a host to the publisher; no answer
};
// What a peer requests besides, in a hello or an inspection; unknown bits are ignored.
enum { FB_EXTRA_ANNOTATION = 1 << 0 };

struct fb_hello {
  struct fb_message_header header;
  uint32_t holds;
  uint32_t is_lossless;
  uint64_t lossless_deadline_ns;
  uint64_t keep_latest;  // the ring depth that the policy needs, or 0
  uint32_t policy;       // FB_POLICY_*
  uint32_t wait;         // FB_WAIT_*
  uint64_t extras;       // FB_EXTRA_*
  uint64_t reserved;
};
_Static_assert(sizeof(struct fb_hello) == 64, "hello");

struct fb_pool_description {
  uint32_t generation;
  uint32_t slot_count;
  uint64_t slot_bytes;
};

struct fb_welcome {
  struct fb_message_header header;
  uint32_t seat;
  uint32_t holds;
  uint64_t cursor;
  uint64_t generation;
  uint32_t ring_depth;
  uint32_t reserved0;
  struct fb_pool_description pool;
  uint64_t reserved1[8];
};
_Static_assert(sizeof(struct fb_welcome) == 128, "welcome");

struct fb_refusal {
  struct fb_message_header header;
  uint32_t reason;  // FB_REFUSED_*
  uint32_t value;   // by reason: the limit, the publisher's ABI version or ring depth
  uint64_t reserved[5];
};
enum {
  FB_REFUSED_VERSION = 1,
  FB_REFUSED_FULL = 2,
  FB_REFUSED_BUSY = 3,
  FB_REFUSED_NOT_MEMBER = 4,
  FB_REFUSED_LOSSLESS = 5,
  FB_REFUSED_RING_DEPTH = 6,
  FB_REFUSED_MALFORMED = 7,
  FB_REFUSED_RESOURCES = 8,
};
_Static_assert(sizeof(struct fb_refusal) == 64, "refusal");

struct fb_pool_message {
  struct fb_message_header header;
  struct fb_pool_description pool;
  uint32_t oldest;  // the generation from which on pools are kept
  uint32_t reserved;
};
_Static_assert(sizeof(struct fb_pool_message) == 40, "pool");

// What the publisher says of its stream besides the frames.
struct fb_annotation {
  struct fb_message_header header;
  char application[FB_APPLICATION_BYTES];  // ends with a zero byte; empty: none
};
_Static_assert(sizeof(struct fb_annotation) == 272, "annotation");

struct fb_short_message {
  struct fb_message_header header;
  uint64_t value;
};

// The reply to FB_MESSAGE_INSPECT: the data of `framebus streams`.
struct fb_subscriber_status {
  uint32_t id;
  uint32_t pid;
  uint32_t seat;
  uint32_t held;
  uint64_t position;
  uint64_t received;
  uint64_t dropped;
};
// The reply to FB_MESSAGE_INSPECT_SUBSCRIBER: the data of `framebus top` for one subscriber.
struct fb_subscriber_details {
  struct fb_message_header header;
  struct fb_subscriber_status subscriber;
  uint64_t drops[FB_DROP_REASONS];
  uint32_t policy;
  uint32_t wait;
  uint32_t utilization;
  uint32_t requested_rate_numerator;
  uint32_t requested_rate_denominator;
  uint32_t reserved;
  uint32_t latencies[FB_LATENCY_BUCKETS];
};
_Static_assert(sizeof(struct fb_subscriber_details) == 640, "one packet");
struct fb_status {
  struct fb_message_header header;
  uint64_t generation;
  uint64_t cursor;
  uint64_t abandoned;
  uint32_t publisher_pid;
  uint32_t state;
  struct fb_pool_description pool;
  uint32_t subscriber_count;
  uint32_t owed;
  uint64_t wake_ups;
  uint64_t lossless_ended;
  uint64_t evictions;
  uint64_t rejected;
  uint64_t retained_bytes;
  uint64_t published_bytes;
  uint32_t content;        // FB_CONTENT_*
  uint32_t finish_reason;  // as on the board: also the reason of a pause
  struct fb_format format;
  struct fb_subscriber_status subscribers[FB_MAXIMUM_SUBSCRIBERS];
};
_Static_assert(sizeof(struct fb_status) <= 4096, "one packet");

// Byte offsets, for the typed words of the Swift side.
enum {
  FB_AT_STATE = offsetof(struct fb_board, state),
  FB_AT_FINISH_REASON = offsetof(struct fb_board, finish_reason),
  FB_AT_CURSOR = offsetof(struct fb_board, cursor),
  FB_AT_NEWEST_SLOT = offsetof(struct fb_board, newest_slot),
  FB_AT_PLAIN_SINCE = offsetof(struct fb_board, plain_since),
  FB_AT_WAKE = offsetof(struct fb_board, wake),
  FB_AT_PUBLISHED_BYTES = offsetof(struct fb_board, published_bytes),
  FB_AT_FORMAT_EPOCH = offsetof(struct fb_board, format_epoch),
  FB_AT_POOL_GENERATION = offsetof(struct fb_board, pool_generation),
  FB_AT_PUBLISHER_WAITING = offsetof(struct fb_board, publisher_waiting),
  FB_AT_ABANDONED = offsetof(struct fb_board, abandoned),
  FB_AT_WAKE_UPS = offsetof(struct fb_board, wake_ups),
  FB_AT_LOSSLESS_ENDED = offsetof(struct fb_board, lossless_ended),
  FB_AT_EVICTIONS = offsetof(struct fb_board, evictions),
  FB_AT_REJECTED = offsetof(struct fb_board, rejected),
  FB_AT_RETAINED_BYTES = offsetof(struct fb_board, retained_bytes),
  FB_AT_SEATS = offsetof(struct fb_board, seats),
  FB_BOARD_BYTES = sizeof(struct fb_board),
  FB_DESCRIPTOR_BYTES = sizeof(struct fb_descriptor),
  FB_FORMAT_BYTES = sizeof(struct fb_format),
  FB_AT_KEY_FRAME = offsetof(struct fb_descriptor, key_frame),
  FB_AT_POSITION = offsetof(struct fb_page, position),
  FB_AT_WAITING = offsetof(struct fb_page, waiting),
  FB_AT_PROGRESS = offsetof(struct fb_page, progress),
  FB_AT_RECEIVED = offsetof(struct fb_page, received),
  FB_AT_DROPPED = offsetof(struct fb_page, dropped),
  FB_AT_DROPS = offsetof(struct fb_page, drops),
  FB_AT_POLICY = offsetof(struct fb_page, policy),
  FB_AT_WAIT = offsetof(struct fb_page, wait),
  FB_AT_UTILIZATION = offsetof(struct fb_page, utilization),
  FB_AT_REQUESTED_RATE = offsetof(struct fb_page, requested_rate_numerator),  // and the denominator
  FB_AT_DEMAND = offsetof(struct fb_page, demand),
  FB_AT_LATENCIES = offsetof(struct fb_page, latencies),
};

// Prefetch hints: the processor fetches a line without stalling. Defined here so that they are
// inlined into the code that uses the layout.
static inline void fb_prefetch(const void *address) { __builtin_prefetch(address, 0, 3); }

static inline void fb_prefetch_for_writing(const void *address) {
#if defined(__x86_64__)
  // The builtin emits the hint for reading unless the compiler targets a processor with this
  // instruction. A processor without it treats it as a no-op.
  __asm__ volatile("prefetchw %0" ::"m"(*(const char *)address));
#else
  __builtin_prefetch(address, 1, 3);
#endif
}
