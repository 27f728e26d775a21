#include "CURing.h"

#include <errno.h>
#include <liburing.h>
#include <stdlib.h>

struct fb_ring {
  struct io_uring ring;
};

struct fb_ring *fb_ring_create(unsigned entries, int *error) {
  struct fb_ring *ring = calloc(1, sizeof *ring);
  *error = ring == NULL ? -ENOMEM : io_uring_queue_init(entries, &ring->ring, 0);
  if (*error == 0) return ring;
  free(ring);
  return NULL;
}

void fb_ring_free(struct fb_ring *ring) {
  io_uring_queue_exit(&ring->ring);
  free(ring);
}

int fb_ring_write(struct fb_ring *ring, int file, uint64_t token, const struct iovec *parts,
                  unsigned part_count, uint64_t offset, const struct iovec *last,
                  uint64_t last_offset) {
  if (io_uring_sq_space_left(&ring->ring) < 2) return -EBUSY;
  struct io_uring_sqe *first = io_uring_get_sqe(&ring->ring);
  io_uring_prep_writev(first, file, parts, part_count, offset);
  io_uring_sqe_set_flags(first, IOSQE_IO_LINK);
  io_uring_sqe_set_data64(first, 2 * token);
  struct io_uring_sqe *second = io_uring_get_sqe(&ring->ring);
  io_uring_prep_write(second, file, last->iov_base, (unsigned)last->iov_len, last_offset);
  io_uring_sqe_set_data64(second, 2 * token + 1);
  int result;
  do result = io_uring_submit(&ring->ring);
  while (result == -EINTR);
  return result < 0 ? result : 0;
}

int fb_ring_append(struct fb_ring *ring, int file, const struct iovec *parts, unsigned part_count,
                   uint64_t offset, bool is_durable) {
  if (io_uring_sq_space_left(&ring->ring) < 2) return -EBUSY;
  struct io_uring_sqe *write = io_uring_get_sqe(&ring->ring);
  io_uring_prep_writev(write, file, parts, part_count, offset);
  io_uring_sqe_set_data64(write, 0);
  if (is_durable) {
    io_uring_sqe_set_flags(write, IOSQE_IO_LINK);
    struct io_uring_sqe *sync = io_uring_get_sqe(&ring->ring);
    io_uring_prep_fsync(sync, file, IORING_FSYNC_DATASYNC);
    io_uring_sqe_set_data64(sync, 1);
  }
  int result;
  do result = io_uring_submit_and_wait(&ring->ring, is_durable ? 2 : 1);
  while (result == -EINTR);
  return result < 0 ? result : 0;
}

int fb_ring_next(struct fb_ring *ring, bool is_waiting, uint64_t *token, int32_t *result) {
  struct io_uring_cqe *event;
  int code;
  do code = is_waiting ? io_uring_wait_cqe(&ring->ring, &event)
                       : io_uring_peek_cqe(&ring->ring, &event);
  while (code == -EINTR);
  if (code == -EAGAIN) return 0;
  if (code != 0) return code;
  *token = io_uring_cqe_get_data64(event);
  *result = event->res;
  io_uring_cqe_seen(&ring->ring, event);
  return 1;
}
