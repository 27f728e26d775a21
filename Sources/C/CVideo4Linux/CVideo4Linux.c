#include "CVideo4Linux.h"

#include <errno.h>
#include <linux/videodev2.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

static uint32_t type(struct video_port port) {
  if (port.isOutput) {
    return port.isMultiplanar ? V4L2_BUF_TYPE_VIDEO_OUTPUT_MPLANE : V4L2_BUF_TYPE_VIDEO_OUTPUT;
  }
  return port.isMultiplanar ? V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE : V4L2_BUF_TYPE_VIDEO_CAPTURE;
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
  // Metadata nodes of the same camera have other bits, and codecs have both directions.
  bool isCodec = bits & (V4L2_CAP_VIDEO_M2M | V4L2_CAP_VIDEO_M2M_MPLANE);
  result->captures = bits & (V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_VIDEO_CAPTURE_MPLANE) && !isCodec;
  result->outputs = bits & (V4L2_CAP_VIDEO_OUTPUT | V4L2_CAP_VIDEO_OUTPUT_MPLANE) && !isCodec;
  result->streams = bits & V4L2_CAP_STREAMING;
  result->writes = bits & V4L2_CAP_READWRITE;
  result->capturesInPlanes = !(bits & V4L2_CAP_VIDEO_CAPTURE);
  result->outputsInPlanes = !(bits & V4L2_CAP_VIDEO_OUTPUT);
  return 0;
}

int video_encoding_at(struct video_port port, uint32_t index, struct video_encoding *result) {
  struct v4l2_fmtdesc description = {.index = index, .type = type(port)};
  int error = call(port.device, VIDIOC_ENUM_FMT, &description);
  if (error != 0) return error;
  result->code = description.pixelformat;
  result->isCompressed = description.flags & V4L2_FMT_FLAG_COMPRESSED;
  return 0;
}

int video_size_at(struct video_port port, uint32_t encoding, uint32_t index,
                  struct video_size *result) {
  struct v4l2_frmsizeenum size = {.index = index, .pixel_format = encoding};
  int error = call(port.device, VIDIOC_ENUM_FRAMESIZES, &size);
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

int video_interval_at(struct video_port port, uint32_t encoding, uint32_t width, uint32_t height,
                      uint32_t index, struct video_interval *result) {
  struct v4l2_frmivalenum interval = {
      .index = index, .pixel_format = encoding, .width = width, .height = height};
  int error = call(port.device, VIDIOC_ENUM_FRAMEINTERVALS, &interval);
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

static bool is_interlaced(uint32_t field) {
  return field != V4L2_FIELD_NONE && field != V4L2_FIELD_ANY;
}

static void read_format(struct video_port port, const struct v4l2_format *format,
                        struct video_format *result) {
  if (port.isMultiplanar) {
    const struct v4l2_pix_format_mplane *pix = &format->fmt.pix_mp;
    *result = (struct video_format){
        .encoding = pix->pixelformat,
        .width = pix->width,
        .height = pix->height,
        .planeCount = pix->num_planes,
        .stride = pix->plane_fmt[0].bytesperline,
        .byteCount = pix->plane_fmt[0].sizeimage,
        .isInterlaced = is_interlaced(pix->field),
        .colorSpace = pix->colorspace,
        .matrix = pix->ycbcr_enc,
        .range = pix->quantization,
    };
    return;
  }
  const struct v4l2_pix_format *pix = &format->fmt.pix;
  *result = (struct video_format){
      .encoding = pix->pixelformat,
      .width = pix->width,
      .height = pix->height,
      .planeCount = 1,
      .stride = pix->bytesperline,
      .byteCount = pix->sizeimage,
      .isInterlaced = is_interlaced(pix->field),
      .colorSpace = pix->colorspace,
      .matrix = pix->ycbcr_enc,
      .range = pix->quantization,
  };
}

int video_set_format(struct video_port port, struct video_format *wanted) {
  struct v4l2_format format = {.type = type(port)};
  if (port.isMultiplanar) {
    format.fmt.pix_mp.width = wanted->width;
    format.fmt.pix_mp.height = wanted->height;
    format.fmt.pix_mp.pixelformat = wanted->encoding;
    format.fmt.pix_mp.field = V4L2_FIELD_NONE;
    format.fmt.pix_mp.num_planes = 1;
  } else {
    format.fmt.pix.width = wanted->width;
    format.fmt.pix.height = wanted->height;
    format.fmt.pix.pixelformat = wanted->encoding;
    format.fmt.pix.field = V4L2_FIELD_NONE;
  }
  int error = call(port.device, VIDIOC_S_FMT, &format);
  if (error == 0) read_format(port, &format, wanted);
  return error;
}

static struct v4l2_fract *interval_of(struct video_port port, struct v4l2_streamparm *parameters) {
  return port.isOutput ? &parameters->parm.output.timeperframe
                       : &parameters->parm.capture.timeperframe;
}

int video_set_interval(struct video_port port, uint32_t *numerator, uint32_t *denominator) {
  struct v4l2_streamparm parameters = {.type = type(port)};
  *interval_of(port, &parameters) = (struct v4l2_fract){*numerator, *denominator};
  int error = call(port.device, VIDIOC_S_PARM, &parameters);
  if (error != 0) return error;
  *numerator = interval_of(port, &parameters)->numerator;
  *denominator = interval_of(port, &parameters)->denominator;
  return 0;
}

int video_current_interval(struct video_port port, uint32_t *numerator, uint32_t *denominator) {
  struct v4l2_streamparm parameters = {.type = type(port)};
  int error = call(port.device, VIDIOC_G_PARM, &parameters);
  if (error != 0) return error;
  *numerator = interval_of(port, &parameters)->numerator;
  *denominator = interval_of(port, &parameters)->denominator;
  return 0;
}

static uint32_t memory(bool usesOwnMemory) {
  return usesOwnMemory ? V4L2_MEMORY_USERPTR : V4L2_MEMORY_MMAP;
}

int video_request(struct video_port port, bool usesOwnMemory, uint32_t *count) {
  struct v4l2_requestbuffers request = {
      .count = *count, .type = type(port), .memory = memory(usesOwnMemory)};
  int error = call(port.device, VIDIOC_REQBUFS, &request);
  if (error == 0) *count = request.count;
  return error;
}

/// A buffer's description, with one plane where the driver has planes.
struct description {
  struct v4l2_buffer buffer;
  struct v4l2_plane plane;
};

static void describe(struct description *self, struct video_port port, bool usesOwnMemory,
                     uint32_t index) {
  *self = (struct description){
      .buffer = {.index = index, .type = type(port), .memory = memory(usesOwnMemory)}};
  if (!port.isMultiplanar) return;
  self->buffer.m.planes = &self->plane;
  self->buffer.length = 1;
}

int video_buffer(struct video_port port, uint32_t index, uint64_t *offset, uint32_t *byteCount) {
  struct description self;
  describe(&self, port, false, index);
  int error = call(port.device, VIDIOC_QUERYBUF, &self.buffer);
  if (error != 0) return error;
  *offset = port.isMultiplanar ? self.plane.m.mem_offset : self.buffer.m.offset;
  *byteCount = port.isMultiplanar ? self.plane.length : self.buffer.length;
  return 0;
}

int video_queue_own(struct video_port port, uint32_t index, uintptr_t address,
                    uint32_t byteCount) {
  struct description self;
  describe(&self, port, true, index);
  if (port.isMultiplanar) {
    self.plane.m.userptr = address;
    self.plane.length = byteCount;
  } else {
    self.buffer.m.userptr = address;
    self.buffer.length = byteCount;
  }
  return call(port.device, VIDIOC_QBUF, &self.buffer);
}

int video_queue(struct video_port port, uint32_t index) {
  struct description self;
  describe(&self, port, false, index);
  return call(port.device, VIDIOC_QBUF, &self.buffer);
}

int video_dequeue(struct video_port port, bool usesOwnMemory, struct video_frame *result) {
  struct description self;
  describe(&self, port, usesOwnMemory, 0);
  int error = call(port.device, VIDIOC_DQBUF, &self.buffer);
  if (error != 0) return error;
  const struct v4l2_buffer *buffer = &self.buffer;
  const int64_t seconds = buffer->timestamp.tv_sec, limit = INT64_MAX / 2000000000;
  bool isPlausible = seconds >= 0 && seconds < limit && buffer->timestamp.tv_usec >= 0 &&
                     buffer->timestamp.tv_usec < 1000000;
  *result = (struct video_frame){
      .index = buffer->index,
      .bytesUsed = port.isMultiplanar ? self.plane.bytesused : buffer->bytesused,
      .offset = port.isMultiplanar ? self.plane.data_offset : 0,
      .sequence = buffer->sequence,
      .isDamaged = buffer->flags & V4L2_BUF_FLAG_ERROR,
      .isMonotonic = isPlausible && (buffer->flags & V4L2_BUF_FLAG_TIMESTAMP_MASK) ==
                                        V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC,
      .timestampNs = isPlausible ? seconds * 1000000000 + buffer->timestamp.tv_usec * 1000 : 0,
  };
  return 0;
}

int64_t video_write(struct video_port port, const void *bytes, size_t byteCount) {
  ssize_t result;
  do result = write(port.device, bytes, byteCount);
  while (result < 0 && errno == EINTR);
  return result < 0 ? -errno : result;
}

int video_start(struct video_port port) {
  int direction = (int)type(port);
  return call(port.device, VIDIOC_STREAMON, &direction);
}

int video_stop(struct video_port port) {
  int direction = (int)type(port);
  return call(port.device, VIDIOC_STREAMOFF, &direction);
}

int video_control_after(struct video_port port, uint32_t id, struct video_control *result) {
  struct v4l2_query_ext_ctrl control = {.id = id | V4L2_CTRL_FLAG_NEXT_CTRL};
  int error = call(port.device, VIDIOC_QUERY_EXT_CTRL, &control);
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

int video_get_control(struct video_port port, uint32_t id, int32_t *value) {
  struct v4l2_control control = {.id = id};
  int error = call(port.device, VIDIOC_G_CTRL, &control);
  if (error == 0) *value = control.value;
  return error;
}

int video_set_control(struct video_port port, uint32_t id, int32_t value) {
  struct v4l2_control control = {.id = id, .value = value};
  return call(port.device, VIDIOC_S_CTRL, &control);
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
