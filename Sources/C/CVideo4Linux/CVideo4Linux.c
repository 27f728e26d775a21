#include "CVideo4Linux.h"

#include <errno.h>
#include <linux/videodev2.h>
#include <string.h>
#include <sys/ioctl.h>

static int call(int device, unsigned long request, void *argument) {
  int result;
  do result = ioctl(device, request, argument);
  while (result < 0 && errno == EINTR);
  return result < 0 ? -errno : 0;
}

static void copy_name(char *target, const void *source, size_t count) {
  size_t length = strnlen(source, count < VIDEO_NAME_BYTES ? count : VIDEO_NAME_BYTES);
  memcpy(target, source, length);
  target[length] = 0;
}

int video_query(int device, struct video_device *result) {
  struct v4l2_capability capability = {0};
  int error = call(device, VIDIOC_QUERYCAP, &capability);
  if (error != 0) return error;
  uint32_t bits = capability.capabilities & V4L2_CAP_DEVICE_CAPS ? capability.device_caps
                                                                 : capability.capabilities;
  copy_name(result->card, capability.card, sizeof capability.card);
  copy_name(result->bus, capability.bus_info, sizeof capability.bus_info);
  copy_name(result->driver, capability.driver, sizeof capability.driver);
  // Metadata and output nodes of the same camera have other bits.
  result->captures = bits & V4L2_CAP_VIDEO_CAPTURE && !(bits & V4L2_CAP_VIDEO_M2M);
  result->streams = bits & V4L2_CAP_STREAMING;
  return 0;
}

int video_encoding_at(int device, uint32_t index, struct video_encoding *result) {
  struct v4l2_fmtdesc description = {.index = index, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
  int error = call(device, VIDIOC_ENUM_FMT, &description);
  if (error != 0) return error;
  result->code = description.pixelformat;
  result->isCompressed = description.flags & V4L2_FMT_FLAG_COMPRESSED;
  return 0;
}

int video_size_at(int device, uint32_t encoding, uint32_t index, struct video_size *result) {
  struct v4l2_frmsizeenum size = {.index = index, .pixel_format = encoding};
  int error = call(device, VIDIOC_ENUM_FRAMESIZES, &size);
  if (error != 0) return error;
  if (size.type == V4L2_FRMSIZE_TYPE_DISCRETE) {
    *result = (struct video_size){
        .width = size.discrete.width,
        .height = size.discrete.height,
        .maximumWidth = size.discrete.width,
        .maximumHeight = size.discrete.height,
        .stepWidth = 1,
        .stepHeight = 1,
    };
  } else {
    *result = (struct video_size){
        .isRange = true,
        .width = size.stepwise.min_width,
        .height = size.stepwise.min_height,
        .maximumWidth = size.stepwise.max_width,
        .maximumHeight = size.stepwise.max_height,
        .stepWidth = size.stepwise.step_width,
        .stepHeight = size.stepwise.step_height,
    };
  }
  return 0;
}

int video_interval_at(int device, uint32_t encoding, uint32_t width, uint32_t height,
                      uint32_t index, struct video_interval *result) {
  struct v4l2_frmivalenum interval = {
      .index = index, .pixel_format = encoding, .width = width, .height = height};
  int error = call(device, VIDIOC_ENUM_FRAMEINTERVALS, &interval);
  if (error != 0) return error;
  bool isRange = interval.type != V4L2_FRMIVAL_TYPE_DISCRETE;
  struct v4l2_fract least = isRange ? interval.stepwise.min : interval.discrete;
  struct v4l2_fract most = isRange ? interval.stepwise.max : interval.discrete;
  *result = (struct video_interval){
      .isRange = isRange,
      .numerator = least.numerator,
      .denominator = least.denominator,
      .maximumNumerator = most.numerator,
      .maximumDenominator = most.denominator,
  };
  return 0;
}

static void read_format(const struct v4l2_pix_format *pix, struct video_format *result) {
  *result = (struct video_format){
      .encoding = pix->pixelformat,
      .width = pix->width,
      .height = pix->height,
      .stride = pix->bytesperline,
      .byteCount = pix->sizeimage,
      .isInterlaced = pix->field != V4L2_FIELD_NONE && pix->field != V4L2_FIELD_ANY,
      .colorSpace = pix->colorspace,
      .matrix = pix->ycbcr_enc,
      .range = pix->quantization,
  };
}

int video_current_format(int device, struct video_format *result) {
  struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
  int error = call(device, VIDIOC_G_FMT, &format);
  if (error == 0) read_format(&format.fmt.pix, result);
  return error;
}

int video_set_format(int device, struct video_format *wanted) {
  struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
  format.fmt.pix.width = wanted->width;
  format.fmt.pix.height = wanted->height;
  format.fmt.pix.pixelformat = wanted->encoding;
  format.fmt.pix.field = V4L2_FIELD_NONE;
  int error = call(device, VIDIOC_S_FMT, &format);
  if (error == 0) read_format(&format.fmt.pix, wanted);
  return error;
}

int video_set_interval(int device, uint32_t *numerator, uint32_t *denominator) {
  struct v4l2_streamparm parameters = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
  parameters.parm.capture.timeperframe.numerator = *numerator;
  parameters.parm.capture.timeperframe.denominator = *denominator;
  int error = call(device, VIDIOC_S_PARM, &parameters);
  if (error != 0) return error;
  *numerator = parameters.parm.capture.timeperframe.numerator;
  *denominator = parameters.parm.capture.timeperframe.denominator;
  return 0;
}

int video_current_interval(int device, uint32_t *numerator, uint32_t *denominator) {
  struct v4l2_streamparm parameters = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
  int error = call(device, VIDIOC_G_PARM, &parameters);
  if (error != 0) return error;
  *numerator = parameters.parm.capture.timeperframe.numerator;
  *denominator = parameters.parm.capture.timeperframe.denominator;
  return 0;
}

static uint32_t memory(bool usesOwnMemory) {
  return usesOwnMemory ? V4L2_MEMORY_USERPTR : V4L2_MEMORY_MMAP;
}

int video_request(int device, bool usesOwnMemory, uint32_t *count) {
  struct v4l2_requestbuffers request = {
      .count = *count, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = memory(usesOwnMemory)};
  int error = call(device, VIDIOC_REQBUFS, &request);
  if (error == 0) *count = request.count;
  return error;
}

int video_buffer(int device, uint32_t index, uint64_t *offset, uint32_t *byteCount) {
  struct v4l2_buffer buffer = {
      .index = index, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
  int error = call(device, VIDIOC_QUERYBUF, &buffer);
  if (error != 0) return error;
  *offset = buffer.m.offset;
  *byteCount = buffer.length;
  return 0;
}

int video_queue_own(int device, uint32_t index, uintptr_t address, uint32_t byteCount) {
  struct v4l2_buffer buffer = {
      .index = index, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_USERPTR};
  buffer.m.userptr = address;
  buffer.length = byteCount;
  return call(device, VIDIOC_QBUF, &buffer);
}

int video_queue(int device, uint32_t index) {
  struct v4l2_buffer buffer = {
      .index = index, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
  return call(device, VIDIOC_QBUF, &buffer);
}

int video_dequeue(int device, bool usesOwnMemory, struct video_frame *result) {
  struct v4l2_buffer buffer = {
      .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = memory(usesOwnMemory)};
  int error = call(device, VIDIOC_DQBUF, &buffer);
  if (error != 0) return error;
  const int64_t seconds = buffer.timestamp.tv_sec, limit = INT64_MAX / 2000000000;
  bool isPlausible = seconds >= 0 && seconds < limit && buffer.timestamp.tv_usec >= 0 &&
                     buffer.timestamp.tv_usec < 1000000;
  *result = (struct video_frame){
      .index = buffer.index,
      .bytesUsed = buffer.bytesused,
      .sequence = buffer.sequence,
      .isDamaged = buffer.flags & V4L2_BUF_FLAG_ERROR,
      .isMonotonic = isPlausible && (buffer.flags & V4L2_BUF_FLAG_TIMESTAMP_MASK) ==
                                        V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC,
      .timestampNs = isPlausible ? seconds * 1000000000 + buffer.timestamp.tv_usec * 1000 : 0,
  };
  return 0;
}

int video_start(int device) {
  int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  return call(device, VIDIOC_STREAMON, &type);
}

int video_stop(int device) {
  int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  return call(device, VIDIOC_STREAMOFF, &type);
}

int video_control_after(int device, uint32_t id, struct video_control *result) {
  struct v4l2_query_ext_ctrl control = {.id = id | V4L2_CTRL_FLAG_NEXT_CTRL};
  int error = call(device, VIDIOC_QUERY_EXT_CTRL, &control);
  if (error != 0) return error;
  *result = (struct video_control){
      .id = control.id,
      .kind = control.type == V4L2_CTRL_TYPE_INTEGER   ? VIDEO_INTEGER
              : control.type == V4L2_CTRL_TYPE_BOOLEAN ? VIDEO_FLAG
              : control.type == V4L2_CTRL_TYPE_MENU ||
                      control.type == V4L2_CTRL_TYPE_INTEGER_MENU
                  ? VIDEO_MENU
                  : VIDEO_OTHER,
      .minimum = control.minimum,
      .maximum = control.maximum,
      .step = (int64_t)control.step,
      .usual = control.default_value,
      .isDisabled = control.flags & V4L2_CTRL_FLAG_DISABLED,
      .isReadOnly = control.flags & V4L2_CTRL_FLAG_READ_ONLY,
      .isInactive = control.flags & V4L2_CTRL_FLAG_INACTIVE,
  };
  copy_name(result->name, control.name, sizeof control.name);
  return 0;
}

int video_get_control(int device, uint32_t id, int32_t *value) {
  struct v4l2_control control = {.id = id};
  int error = call(device, VIDIOC_G_CTRL, &control);
  if (error == 0) *value = control.value;
  return error;
}

int video_set_control(int device, uint32_t id, int32_t value) {
  struct v4l2_control control = {.id = id, .value = value};
  return call(device, VIDIOC_S_CTRL, &control);
}

struct video_color video_color(const struct video_format *format, bool isRGB) {
  uint32_t space = format->colorSpace;
  struct video_color color = {2, 2, 2, 0};
  switch (space) {
    case V4L2_COLORSPACE_SMPTE170M: color = (struct video_color){6, 1, 6, 1}; break;
    case V4L2_COLORSPACE_470_SYSTEM_M: color = (struct video_color){4, 4, 6, 1}; break;
    case V4L2_COLORSPACE_470_SYSTEM_BG: color = (struct video_color){5, 1, 5, 1}; break;
    case V4L2_COLORSPACE_REC709: color = (struct video_color){1, 1, 1, 1}; break;
    case V4L2_COLORSPACE_SRGB: color = (struct video_color){1, 13, 6, 1}; break;
    case V4L2_COLORSPACE_JPEG: color = (struct video_color){1, 13, 6, 2}; break;
    case V4L2_COLORSPACE_BT2020: color = (struct video_color){9, 1, 9, 1}; break;
    default: break;
  }
  switch (format->matrix) {
    case V4L2_YCBCR_ENC_601: color.matrix = 6; break;
    case V4L2_YCBCR_ENC_709: color.matrix = 1; break;
    case V4L2_YCBCR_ENC_BT2020: color.matrix = 9; break;
    default: break;
  }
  if (isRGB) color.matrix = 0;
  if (isRGB && color.primaries != 2) color.range = 2;
  if (format->range == V4L2_QUANTIZATION_FULL_RANGE) color.range = 2;
  if (format->range == V4L2_QUANTIZATION_LIM_RANGE) color.range = 1;
  return color;
}
