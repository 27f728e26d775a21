/* Frames between the processes of one Linux application, without a copy: the C interface of
 * FrameBus, part 1. framebus-group.h has notifications, settings, log, semaphores and credentials.
 *
 * RESULTS. A call returns FRAMEBUS_OK (0), an outcome that is not an error (> 0) or an error (< 0).
 * The last argument of most calls is an error object, or NULL: after an error it has the code and a
 * sentence that says what happened, the cause and a remedy. Calls never print, exit, change signal
 * handlers or the locale, or use errno for results.
 *
 * WRONG ARGUMENTS are errors. A handle that is NULL, closed, released, of another type or of a
 * parent process is FRAMEBUS_ERROR_HANDLE (or _FORKED), whatever its value. A NULL that is not
 * allowed, a structure of a wrong size and a value out of range are FRAMEBUS_ERROR_ARGUMENT. Other
 * pointers must be valid; strings are UTF-8 and end with a zero byte.
 *
 * STRUCTURES begin with their size, which the caller sets (the *_INIT macros do). The library
 * accepts larger ones than it knows: unknown fields must be 0 in input, and become 0 in output.
 *
 * THREADS. Different handles may be used on different threads at once. "Any thread" means that a
 * call may be made on any thread, at the same time as other calls. All other calls on a publisher,
 * its loans, or a subscriber must follow one another, as under a lock of the caller's.
 *
 * WAITING. Every wait has a deadline, in nanoseconds of CLOCK_MONOTONIC: 0 has passed already, so
 * the call does not wait; FRAMEBUS_NEVER never passes. A stop handle ends a wait from another
 * thread. Frames, loans, a publisher's subscribers, notifications, settings and permits can be
 * waited for by descriptor, in an event loop of the caller's. What opens, lists or saves has a
 * deadline and no descriptor; changes of settings wait up to 5 s for other writers.
 *
 * FORK. Handles do not survive fork(2): in the child each call fails with FRAMEBUS_ERROR_FORKED.
 * A child that continues without exec(3) keeps descriptors open, so peers notice the parent's end
 * only when the child ends too. Secrets are zeros there. The library may have started threads; they
 * block all signals that they do not cause themselves.
 */
#ifndef FRAMEBUS_H
#define FRAMEBUS_H

#include "framebus-types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface: the major number is that of libframebus.so.N. */
#define FRAMEBUS_ABI_VERSION 0x00000001u
/* The library's version, major << 16 | minor: at least that of the header used. Any thread. */
uint32_t framebus_abi_version(void);

typedef struct framebus_group framebus_group;
typedef struct framebus_stop framebus_stop;
typedef struct framebus_publisher framebus_publisher;
typedef struct framebus_loan framebus_loan;
typedef struct framebus_subscriber framebus_subscriber;
typedef struct framebus_lease framebus_lease;
typedef struct framebus_streams framebus_streams;

/* ---- Results, time, stopping ---- */

/* A fixed text for a result. Never NULL. Any thread. */
const char *framebus_strerror(int code);

#define FRAMEBUS_NEVER UINT64_MAX
/* CLOCK_MONOTONIC in nanoseconds. Any thread. */
uint64_t framebus_now_ns(void);
/* The deadline after a time from now; FRAMEBUS_NEVER stays that. Any thread. */
uint64_t framebus_after_ns(uint64_t duration_ns);

/* Makes a handle that ends waits. It uses one descriptor. Any thread. */
int framebus_stop_open(framebus_stop **stop, framebus_error *error);
/* Ends each present and later wait with this handle, for ever. Any thread; not in a signal
 * handler. */
int framebus_stop_raise(framebus_stop *stop);
/* No wait may use it any more. Any thread. */
int framebus_stop_close(framebus_stop *stop);

/* ---- Groups ---- */

/* Opens a group that `framebus group create` made. Each other handle keeps what it needs of it.
 * id: NULL for group.local.framebus. root: NULL for the usual directories; no variable counts.
 * Reads files: may block for a moment. Errors: NOT_FOUND, PERMISSION, UNTRUSTED, SYSTEM. */
int framebus_group_open(const char *id, const char *root, framebus_group **group,
                        framebus_error *error);
/* Any thread. */
int framebus_group_close(framebus_group *group);

/* ---- Formats and metadata ---- */

/* Fills in the format of a raw picture in GStreamer's layout: rows padded to 4 bytes, planes one
 * after the other, colours unspecified, the rate variable; change them afterwards. format->size
 * must be set. Errors: ARGUMENT, also for a code whose layout is unknown. Any thread. */
int framebus_format_video(uint32_t fourcc, uint32_t width, uint32_t height,
                          framebus_format *format, framebus_error *error);
/* Fills in the format of raw interleaved sound, in frames of up to maximum_sample_frames (one
 * sample of each channel). kind: FRAMEBUS_KIND_APP_AUDIO or _MIC_AUDIO. Any thread. */
int framebus_format_audio(uint32_t kind, uint32_t sample_format, uint32_t sample_rate,
                          uint32_t channel_count, uint32_t maximum_sample_frames,
                          framebus_format *format, framebus_error *error);

/* Makes *metadata that of a frame captured and due now, upright, all of it changed.
 * metadata->size must be set. Any thread. */
int framebus_metadata_now(framebus_metadata *metadata, framebus_error *error);

/* ---- Publishing ---- */

enum { /* framebus_publisher_options.content */
  FRAMEBUS_CONTENT_OTHER = 0,
  FRAMEBUS_CONTENT_SCREEN = 1, /* its subscribers make the group's state "captured" */
  FRAMEBUS_CONTENT_WINDOW = 2
};

typedef struct framebus_publisher_options { /* 0 is the default everywhere */
  size_t size;
  uint64_t slot_bytes;     /* 0: sized for the first format; a larger picture needs a new pool */
  uint64_t pool_bytes;     /* the most that a pool may take; 0: 640 MiB */
  uint32_t content;
  uint32_t ring_depth;     /* newest frames that can be received, 2 to 1024; 0: 2 */
  uint32_t maximum_loans;  /* at once, 1 to 64; 0: 1 */
  uint32_t hold_quota;     /* leases of all subscribers together, 64 to 1024; 0: 128 */
  uint32_t seats_per_user; /* subscribers of one user, 1 to 64; 0: 56 */
  uint32_t allows_lossless; /* 1: wait for subscribers that request it. Not for live sources */
  uint32_t checksums;       /* 1: each frame carries the CRC-32C of its bytes */
  uint32_t reserved;        /* 0 */
} framebus_publisher_options;
#define FRAMEBUS_PUBLISHER_OPTIONS_INIT \
  {sizeof(framebus_publisher_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

enum { /* why a stream ended */
  FRAMEBUS_END_NONE = 0,    /* it has not; framebus_publisher_close: without telling, like a crash:
                               subscribers wait for the next publisher */
  FRAMEBUS_END_ENDED = 1,   /* the source reached its end */
  FRAMEBUS_END_STOPPED = 2, /* the publisher was asked to stop */
  FRAMEBUS_END_FAILED = 3
};
enum { /* why a stream is paused */
  FRAMEBUS_PAUSE_NONE = 0, /* it is not */
  FRAMEBUS_PAUSE_REQUESTED = 1,
  FRAMEBUS_PAUSE_TRANSITION = 2, /* the source changes, for example its size */
  FRAMEBUS_PAUSE_UNAVAILABLE = 3
};

/* Creates a stream and opens it to subscribers. options: NULL for the defaults. name: 1 to 48 bytes
 * of a-z, 0-9, '.', '-' and '_'. Blocks for a moment. Errors: BUSY while another process publishes
 * the stream, PERMISSION, ARGUMENT, LIMIT, SYSTEM. */
int framebus_publisher_open(framebus_group *group, const char *name, const framebus_format *format,
                            const framebus_publisher_options *options,
                            framebus_publisher **publisher, framebus_error *error);
/* Ends the stream for a reason (FRAMEBUS_END_...), and frees its name for another publisher.
 * Subscribers receive the remaining frames first; leases stay valid. Waits for nobody. Until the
 * publisher is closed, published frames can be read where they were written, and loans be written.
 * From now on a loan can only be given back: framebus_loan_abandon returns OK, and
 * framebus_loan_publish gives it back and returns FRAMEBUS_FINISHED, as all calls do that need a
 * stream. framebus_publisher_get_status tells how many loans are out. */
int framebus_publisher_finish(framebus_publisher *publisher, uint32_t reason,
                              framebus_error *error);
/* Ends the stream, if framebus_publisher_finish did not, and the publisher's handle. Waits for
 * nobody: a loan that is out keeps the memory of the stream mapped, its own writable, until it is
 * given back, as above; on any thread, at the same time as others. */
int framebus_publisher_close(framebus_publisher *publisher, uint32_t reason,
                             framebus_error *error);

/* Changes the format of frames loaned from now on. Subscribers stay; a loan that is out keeps its
 * format. Makes a larger pool if it must. */
int framebus_publisher_set_format(framebus_publisher *publisher, const framebus_format *format,
                                  framebus_error *error);

typedef struct framebus_slot {
  size_t size;
  framebus_loan *loan;
  void *bytes;       /* page-aligned, with an earlier frame's content */
  uint64_t capacity; /* bytes that may be written, until the loan is published or abandoned */
} framebus_slot;
#define FRAMEBUS_SLOT_INIT {sizeof(framebus_slot), NULL, NULL, 0}

/* Loans a free slot, to be filled in place. Waits for lossless subscribers until the deadline, and
 * for nothing else: with a live stream it never blocks, makes no system call and allocates nothing.
 * Results: OK, TIMED_OUT, STOPPED; errors: BACKPRESSURE (instead of TIMED_OUT, if the deadline is
 * 0), LIMIT with maximum_loans out, PAUSED. stop may be NULL. */
int framebus_publisher_loan(framebus_publisher *publisher, uint64_t deadline_ns,
                            framebus_stop *stop, framebus_slot *slot, framebus_error *error);
/* A descriptor for poll(2): framebus_publisher_loan with BACKPRESSURE or TIMED_OUT makes it
 * unreadable until a loan may succeed. It can be readable for nothing: call with deadline 0 until
 * that returns BACKPRESSURE. Meanwhile a subscriber that makes no progress loses lossless delivery,
 * as in a call that waits. The first call starts a thread, which sleeps until it is needed. Do not
 * read or close the descriptor; it lives as long as the publisher. Else a negative error. */
int framebus_publisher_loan_descriptor(framebus_publisher *publisher, framebus_error *error);

#define FRAMEBUS_WHOLE UINT64_MAX
/* Publishes a loan: the frame is visible to all subscribers, and the loan ends. metadata: NULL is
 * framebus_metadata_now. byte_count: FRAMEBUS_WHOLE is the format's. sequence may be NULL; it
 * becomes the frame's number, from 1, without gaps. Never blocks, allocates nothing. After an error
 * of the arguments the loan is still out. */
int framebus_loan_publish(framebus_loan *loan, const framebus_metadata *metadata,
                          uint64_t byte_count, uint64_t *sequence, framebus_error *error);
/* Gives a loan back unpublished. Damage that its frame was to show belongs to the next one. */
int framebus_loan_abandon(framebus_loan *loan);

/* Announces that no frames follow until framebus_publisher_resume. */
int framebus_publisher_pause(framebus_publisher *publisher, uint32_t reason,
                             framebus_error *error);
int framebus_publisher_resume(framebus_publisher *publisher, framebus_error *error);

/* Names the application that the frames show, such as a desktop entry's ID; NULL for none. Its
 * length is 1 to 255 bytes, without control characters. */
int framebus_publisher_set_application(framebus_publisher *publisher, const char *application,
                                       framebus_error *error);

/* Waits until there is a subscriber: a source need do nothing before. OK, TIMED_OUT or STOPPED. */
int framebus_publisher_wait(framebus_publisher *publisher, uint64_t deadline_ns,
                            framebus_stop *stop, framebus_error *error);
/* A descriptor that is readable after a subscriber came or left, until the next call of
 * framebus_publisher_get_status. Do not read or close it; it lives as long as the publisher.
 * Returns a negative error otherwise. */
int framebus_publisher_descriptor(framebus_publisher *publisher);

typedef struct framebus_publisher_status {
  size_t size;
  uint64_t published_count;
  uint64_t join_count; /* subscribers that ever came: publish a frame for each new one */
  uint32_t subscriber_count;
  uint32_t loan_count; /* loans that are out */
  /* The most that any subscriber needs, as each says of itself: 0 is everything, in full size. */
  uint32_t demanded_width;
  uint32_t demanded_height;
  uint32_t demanded_rate_numerator;
  uint32_t demanded_rate_denominator;
  double highest_utilization; /* 0 to 1, as subscribers report */
} framebus_publisher_status;
int framebus_publisher_get_status(framebus_publisher *publisher, framebus_publisher_status *status,
                                  framebus_error *error);

/* ---- Subscribing ---- */

enum { /* framebus_subscriber_options.policy: which frames a slow subscriber receives */
  FRAMEBUS_POLICY_LATEST = 0,      /* the newest */
  FRAMEBUS_POLICY_KEEP_LATEST = 1, /* in order, the newest policy_count */
  FRAMEBUS_POLICY_LOSSLESS = 2,    /* all: the publisher waits, if it allows that, as long as each
                                      frame is received within lossless_limit_ns */
  FRAMEBUS_POLICY_EVERY_NTH = 3,   /* those whose sequence is a multiple of policy_count */
  FRAMEBUS_POLICY_KEY_FRAMES = 4   /* in order; after a gap from the next key frame on */
};
enum { /* framebus_subscriber_options.start: where in the stream it begins */
  FRAMEBUS_START_NEWEST = 0,
  FRAMEBUS_START_NEXT = 1, /* with the first frame published after it came */
  FRAMEBUS_START_OLDEST = 2,
  FRAMEBUS_START_KEY_FRAME = 3
};
enum { /* framebus_subscriber_options.wait: how framebus_subscriber_next waits */
  FRAMEBUS_WAIT_FUTEX = 0,
  FRAMEBUS_WAIT_SPIN = 1,       /* never sleeps: takes a processor */
  FRAMEBUS_WAIT_SEMAPHORE = 2,
  FRAMEBUS_WAIT_DESCRIPTOR = 3  /* by framebus_subscriber_descriptor */
};

typedef struct framebus_subscriber_options { /* 0 is the default everywhere */
  size_t size;
  uint64_t lossless_limit_ns; /* 0: 10 s */
  uint32_t policy;
  uint32_t policy_count; /* 0: 1 */
  uint32_t start;
  uint32_t wait;
  uint32_t leases;             /* that can be held at once, 1 to 16; 0: 1. Fewer may be granted */
  uint32_t verifies_checksums; /* 1: drop frames that do not match the checksum that they carry */
} framebus_subscriber_options;
#define FRAMEBUS_SUBSCRIBER_OPTIONS_INIT {sizeof(framebus_subscriber_options), 0, 0, 0, 0, 0, 0, 0}

/* Attaches to a stream. Waits for a publisher until the deadline; if that is 0, one must be running
 * and has ten seconds to answer. Errors: NOT_FOUND without a publisher, REFUSED, NO_ANSWER,
 * PERMISSION, UNTRUSTED, ARGUMENT, SYSTEM; also STOPPED. Later, when a publisher dies, the
 * subscriber waits for its successor and attaches to it. */
int framebus_subscriber_open(framebus_group *group, const char *name,
                             const framebus_subscriber_options *options, uint64_t deadline_ns,
                             framebus_stop *stop, framebus_subscriber **subscriber,
                             framebus_error *error);
/* Leases stay valid. */
int framebus_subscriber_close(framebus_subscriber *subscriber);

/* A descriptor for poll(2), epoll(7) or GLib, if wait is FRAMEBUS_WAIT_DESCRIPTOR; else a negative
 * error. It is readable while there may be a frame, an end or another event, until
 * framebus_subscriber_next with deadline 0 returns FRAMEBUS_TIMED_OUT: call it until then. It lives
 * as long as the subscriber, across publishers. Do not read or close it. */
int framebus_subscriber_descriptor(framebus_subscriber *subscriber);

typedef struct framebus_frame {
  size_t size;
  framebus_lease *lease; /* to be released; NULL from framebus_subscriber_copy_next */
  const void *bytes;     /* in memory that this process cannot write */
  uint64_t byte_count;
  uint64_t sequence;       /* from 1 in each generation of the stream */
  uint64_t generation;     /* another value: another publisher */
  uint64_t format_epoch;   /* another value, or another generation: the format changed */
  uint64_t dropped_before; /* frames dropped since the frame received before */
  int64_t pts_ns;
  uint64_t captured_at_ns;
  uint64_t published_at_ns; /* CLOCK_MONOTONIC */
  uint32_t flags;
  uint32_t checksum;     /* CRC-32C of the bytes, */
  uint32_t has_checksum; /* if this is 1 */
  uint32_t reserved;
} framebus_frame;
#define FRAMEBUS_FRAME_INIT {sizeof(framebus_frame), NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/* Receives the next frame in place. Results: OK, TIMED_OUT, STOPPED, FINISHED; errors: LIMIT while
 * all granted leases are held, REFUSED or UNTRUSTED by a successor, SYSTEM. A frame copies no byte
 * and allocates nothing. */
int framebus_subscriber_next(framebus_subscriber *subscriber, uint64_t deadline_ns,
                             framebus_stop *stop, framebus_frame *frame, framebus_error *error);
/* Copies a frame, if there is one: without a lease, for payloads of a few kilobytes, such as sound.
 * Does not wait. OK, TIMED_OUT without a frame, FINISHED. LIMIT: the frame is longer than
 * `capacity`, and byte_count says how long; the next call tries it again. */
int framebus_subscriber_copy_next(framebus_subscriber *subscriber, void *buffer, size_t capacity,
                                  framebus_frame *frame, framebus_error *error);
/* The format of the frame that was copied last. */
int framebus_subscriber_copied_format(framebus_subscriber *subscriber, framebus_format *format,
                                      framebus_error *error);

/* Lets a frame go: its bytes are not valid any more. Any thread; also after its subscriber, its
 * publisher or its group is closed. A second release is FRAMEBUS_ERROR_HANDLE. */
int framebus_lease_release(framebus_lease *lease);
/* The frame's format; read it again when framebus_frame.format_epoch changes. Any thread, while
 * nobody releases the lease; so are the next two. */
int framebus_lease_format(framebus_lease *lease, framebus_format *format, framebus_error *error);
/* Its metadata. Rectangles lie in the picture. The damage is relative to the frame that this
 * subscriber received before: the area to redraw, convert or encode. */
int framebus_lease_metadata(framebus_lease *lease, framebus_metadata *metadata,
                            framebus_error *error);

enum { /* framebus_subscriber_status.drops: why frames were never received */
  FRAMEBUS_DROP_LAPPED = 0,      /* overwritten before */
  FRAMEBUS_DROP_PASSED_OVER = 1, /* by the policy */
  FRAMEBUS_DROP_AWAITING_KEY_FRAME = 2,
  FRAMEBUS_DROP_UNREACHABLE = 3, /* in memory older than this subscriber */
  FRAMEBUS_DROP_CORRUPT = 4,     /* the checksum did not match */
  FRAMEBUS_DROP_LOSSLESS_ENDED = 5,
  FRAMEBUS_DROP_REASONS = 6
};

typedef struct framebus_subscriber_status {
  size_t size;
  uint64_t received_count; /* received and dropped are all frames published since it began */
  uint64_t dropped_count;
  uint64_t drops[FRAMEBUS_DROP_REASONS];
  uint64_t lag_frames;      /* published, and neither received nor dropped */
  uint64_t generation;      /* of the publisher; 0 while there is none */
  uint32_t granted_leases;  /* the most at once */
  uint32_t held_leases;     /* of this subscriber's, not yet released */
  uint32_t pause_reason;    /* FRAMEBUS_PAUSE_... */
  uint32_t end_reason;      /* FRAMEBUS_END_..., once all frames were offered */
  uint32_t content;         /* FRAMEBUS_CONTENT_... */
  uint32_t lossless_ended;  /* 1: it was too slow, and frames can be dropped since */
  uint32_t eviction_count;  /* times that it lost its seat: it took a new pool too late */
  uint32_t successor_count; /* times that it attached again */
  char application[256];    /* that the frames show, as the publisher says; "" if unknown */
} framebus_subscriber_status;
int framebus_subscriber_get_status(framebus_subscriber *subscriber,
                                   framebus_subscriber_status *status, framebus_error *error);

/* States what it can use: pixels, frames a second. 0 is everything. A source may publish less while
 * no subscriber needs more. Change it rarely. */
int framebus_subscriber_set_demand(framebus_subscriber *subscriber, uint32_t width,
                                   uint32_t height, uint32_t rate_numerator,
                                   uint32_t rate_denominator, framebus_error *error);
/* Reports its load to the publisher: 0 is idle, 1 unable to keep up. Change it rarely. */
int framebus_subscriber_set_utilization(framebus_subscriber *subscriber, double utilization,
                                        framebus_error *error);

/* ---- Streams of a group ---- */

enum { /* framebus_stream_status.state */
  FRAMEBUS_STATE_STARTING = 0,
  FRAMEBUS_STATE_LIVE = 1,
  FRAMEBUS_STATE_PAUSED = 2,
  FRAMEBUS_STATE_FINISHED = 3,
  FRAMEBUS_STATE_SILENT = 4 /* its publisher did not answer: only name and pid are known */
};

typedef struct framebus_stream_status {
  size_t size;
  char name[56];
  char application[256];
  uint64_t generation;
  uint64_t published_count;
  uint64_t published_bytes;
  uint64_t memory_bytes; /* of its pools */
  uint32_t state;
  uint32_t pause_reason;
  uint32_t content;
  int32_t publisher_pid; /* 0 if unknown */
  uint32_t subscriber_count;
  uint32_t has_format; /* 1: framebus_streams_format gives it */
} framebus_stream_status;

/* Asks all publishers of a group, until the deadline: it takes no seat and delays no frame. */
int framebus_streams_open(framebus_group *group, uint64_t deadline_ns, framebus_streams **streams,
                          framebus_error *error);
/* The number of streams, by name, then those that did not answer; or a negative error. */
int framebus_streams_count(framebus_streams *streams);
int framebus_streams_get(framebus_streams *streams, size_t index, framebus_stream_status *status,
                         framebus_error *error);
/* NOT_FOUND without a format. */
int framebus_streams_format(framebus_streams *streams, size_t index, framebus_format *format,
                            framebus_error *error);
int framebus_streams_close(framebus_streams *streams);

#ifdef __cplusplus
}
#endif

#endif
