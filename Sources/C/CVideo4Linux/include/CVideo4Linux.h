// The calls of Video4Linux (`linux/videodev2.h`) that a capture needs, with plain structures. Each
// returns 0, or a negative errno. Nothing that a driver says is checked here.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VIDEO_NAME_BYTES = 32 };

struct video_device {
  char card[VIDEO_NAME_BYTES + 1];
  char bus[VIDEO_NAME_BYTES + 1];
  char driver[VIDEO_NAME_BYTES + 1];
  bool captures, outputs, streams;
  /// Whether write(2) takes pictures.
  bool writes;
  /// Whether the driver has the calls with several planes in each direction, and no others.
  bool capturesInPlanes, outputsInPlanes;
};
/// VIDIOC_QUERYCAP. Names end with a zero byte.
int video_query(int device, struct video_device *result);

/// One direction of an open device.
struct video_port {
  int device;
  bool isOutput;
  /// Whether its buffers are described by planes (`…_MPLANE`). Only formats of one plane are used:
  /// all of a picture lies in one piece of memory.
  bool isMultiplanar;
};

struct video_encoding {
  uint32_t code;
  bool isCompressed;
};
/// VIDIOC_ENUM_FMT. -EINVAL behind the last one.
int video_encoding_at(struct video_port port, uint32_t index, struct video_encoding *result);

/// One size, or a range of sizes.
struct video_size {
  bool isRange;
  uint32_t width, height;
  uint32_t maximumWidth, maximumHeight;
  uint32_t stepWidth, stepHeight;
};
/// VIDIOC_ENUM_FRAMESIZES. -EINVAL behind the last one, -ENOTTY if the driver cannot say.
int video_size_at(struct video_port port, uint32_t encoding, uint32_t index,
                  struct video_size *result);

/// Seconds from one frame to the next: one interval, or a range.
struct video_interval {
  bool isRange;
  uint32_t numerator, denominator;
  uint32_t maximumNumerator, maximumDenominator;
};
/// VIDIOC_ENUM_FRAMEINTERVALS. -EINVAL behind the last one, -ENOTTY if the driver cannot say.
int video_interval_at(struct video_port port, uint32_t encoding, uint32_t width, uint32_t height,
                      uint32_t index, struct video_interval *result);

struct video_format {
  uint32_t encoding;
  uint32_t width, height;
  /// Pieces of memory that a picture lies in.
  uint32_t planeCount;
  /// Bytes of a row of the first plane.
  uint32_t stride;
  /// Bytes of a buffer.
  uint32_t byteCount;
  bool isInterlaced;
  /// V4L2_COLORSPACE_, V4L2_YCBCR_ENC_ and V4L2_QUANTIZATION_ constants.
  uint32_t colorSpace, matrix, range;
};
/// VIDIOC_S_FMT with encoding and size; the driver may choose others.
int video_set_format(struct video_port port, struct video_format *format);
/// VIDIOC_S_PARM; the driver may choose another interval. -ENOTTY if it has none to set.
int video_set_interval(struct video_port port, uint32_t *numerator, uint32_t *denominator);
/// VIDIOC_G_PARM.
int video_current_interval(struct video_port port, uint32_t *numerator, uint32_t *denominator);

/// VIDIOC_REQBUFS. -EINVAL if the driver cannot use such memory.
/// - usesOwnMemory: whether buffers lie in this process's memory (USERPTR) or the driver's (MMAP).
/// - count: 0 frees all; the driver may choose another count.
int video_request(struct video_port port, bool usesOwnMemory, uint32_t *count);
/// VIDIOC_QUERYBUF: where to map a buffer of the driver's.
int video_buffer(struct video_port port, uint32_t index, uint64_t *offset, uint32_t *byteCount);
/// VIDIOC_QBUF of a buffer in this process's memory.
int video_queue_own(struct video_port port, uint32_t index, uintptr_t address, uint32_t byteCount);
/// VIDIOC_QBUF of the driver's buffer.
int video_queue(struct video_port port, uint32_t index);

struct video_frame {
  uint32_t index, bytesUsed, sequence;
  /// Where the picture begins in its buffer; included in `bytesUsed`.
  uint32_t offset;
  /// The driver says that the picture is damaged.
  bool isDamaged;
  /// Whether `timestampNs` is of CLOCK_MONOTONIC.
  bool isMonotonic;
  int64_t timestampNs;
};
/// VIDIOC_DQBUF. -EAGAIN without a frame, -ENODEV if the device is gone.
int video_dequeue(struct video_port port, bool usesOwnMemory, struct video_frame *result);
/// write(2) of a whole picture. -EAGAIN if the driver has no room for it now.
/// - Returns: the bytes that the driver took, or a negative errno.
int64_t video_write(struct video_port port, const void *bytes, size_t byteCount);

/// VIDIOC_STREAMON.
int video_start(struct video_port port);
/// VIDIOC_STREAMOFF: the driver uses no buffer afterwards.
int video_stop(struct video_port port);

enum video_control_kind { VIDEO_INTEGER, VIDEO_FLAG, VIDEO_MENU, VIDEO_OTHER };
struct video_control {
  uint32_t id;
  char name[VIDEO_NAME_BYTES + 1];
  enum video_control_kind kind;
  int64_t minimum, maximum, step, usual;
  bool isDisabled, isReadOnly, isInactive;
};
/// VIDIOC_QUERY_EXT_CTRL: the control after the one with the ID, or the first after 0. -EINVAL
/// behind the last one.
int video_control_after(struct video_port port, uint32_t id, struct video_control *result);
/// VIDIOC_G_CTRL, VIDIOC_S_CTRL.
int video_get_control(struct video_port port, uint32_t id, int32_t *value);
int video_set_control(struct video_port port, uint32_t id, int32_t value);

/// The meaning of `video_format`'s constants, as code points of H.273; 2 if unspecified. Range: 0
/// unspecified, 1 limited, 2 full.
struct video_color {
  uint8_t primaries, transfer, matrix, range;
};
struct video_color video_color(const struct video_format *format, bool isRGB);
