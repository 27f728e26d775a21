// The part of liburing, io_uring(7), that Platform needs. A C target, because liburing's header
// defines _GNU_SOURCE, which conflicts with Glibc in a Swift module. Errors are negative errnos.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct fb_ring;

/// Creates a queue; on failure returns NULL and sets `error`. One thread at a time may use it.
struct fb_ring *fb_ring_create(unsigned entries, int *error);

void fb_ring_free(struct fb_ring *ring);

/// Submits two writes, the second of which starts after the first has written all its bytes; if the
/// first does not, the second ends with ECANCELED. Their events have the tokens 2 * token and
/// 2 * token + 1. The memory of both must stay valid until then; the list of parts is read during
/// the call only (IORING_FEAT_SUBMIT_STABLE, Linux 5.5).
int fb_ring_write(struct fb_ring *ring, int file, uint64_t token, const struct iovec *parts,
                  unsigned part_count, uint64_t offset, const struct iovec *last,
                  uint64_t last_offset);

/// Writes and, if `is_durable`, then calls fdatasync(2), with one system call for both; blocks
/// until they have ended. Their events have the tokens 0 and 1. If the write does not write all its
/// bytes, the second's result is ECANCELED.
int fb_ring_append(struct fb_ring *ring, int file, const struct iovec *parts, unsigned part_count,
                   uint64_t offset, bool is_durable);

/// Takes the next event, waiting for one if `is_waiting`. Returns 1, or 0 without one.
/// `result` is the number of bytes written, or an error.
int fb_ring_next(struct fb_ring *ring, bool is_waiting, uint64_t *token, int32_t *result);
