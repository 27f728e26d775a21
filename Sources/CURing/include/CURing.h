// What Platform needs of liburing, io_uring(7). A C target because liburing's header defines
// _GNU_SOURCE, and so cannot stand beside Glibc in a Swift module. Errors are negative errnos.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct fb_ring;

/// Sets a ring up; `error` is set where that fails. One thread at a time uses it.
struct fb_ring *fb_ring_create(unsigned entries, int *error);

void fb_ring_free(struct fb_ring *ring);

/// Begins two writes of which the second waits until the first has ended whole; if that does not,
/// the second ends with ECANCELED. Their events have the tokens 2 * token and 2 * token + 1. The
/// memory of both stays as it is until then; the list of parts is read during the call only
/// (IORING_FEAT_SUBMIT_STABLE, Linux 5.5).
int fb_ring_write(struct fb_ring *ring, int file, uint64_t token, const struct iovec *parts,
                  unsigned part_count, uint64_t offset, const struct iovec *last,
                  uint64_t last_offset);

/// Writes and waits for its end, and then, if asked to, for fdatasync(2): one system call for both.
/// Their events have the tokens 0 and 1; where the write does not end whole, the second's result is
/// ECANCELED.
int fb_ring_append(struct fb_ring *ring, int file, const struct iovec *parts, unsigned part_count,
                   uint64_t offset, bool is_durable);

/// The next event, waiting for one if asked to: 1, or 0 if there is none. `result` is what was
/// written, or an error.
int fb_ring_next(struct fb_ring *ring, bool is_waiting, uint64_t *token, int32_t *result);
