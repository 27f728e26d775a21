#define _GNU_SOURCE
#include "FakeCamera.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static bool lies(const struct camera *camera, const char *lie) {
  return strcmp(camera->lie, lie) == 0;
}

__attribute__((format(printf, 2, 3))) static void note(const struct camera *camera,
                                                       const char *format, ...) {
  if (camera->journal < 0) return;
  va_list values;
  va_start(values, format);
  vdprintf(camera->journal, format, values);
  va_end(values);
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int camera_parse(struct camera *camera, int count, char **words) {
  *camera = (struct camera){
      .width = 320,
      .height = 240,
      .fps = 30,
      .memory = "",
      .lie = "",
      .encoding = "YUYV",
      .picture = "",
      .direction = "",
      .pictures = "",
      .journal = -1,
      .file = -1,
      .brightness = 128,
  };
  int index = 1;
  for (; index < count && strcmp(words[index], "--") != 0; index++) {
    char *value = strchr(words[index], '=');
    if (value == NULL) return count;
    *value++ = 0;
    struct {
      const char *name;
      uint32_t *number;
      const char **text;
    } options[] = {
        {"width", &camera->width, NULL},       {"height", &camera->height, NULL},
        {"fps", &camera->fps, NULL},           {"gap", &camera->gap, NULL},
        {"damage", &camera->damage, NULL},     {"unplug", &camera->unplug, NULL},
        {"absences", &camera->absences, NULL}, {"memory", NULL, &camera->memory},
        {"lie", NULL, &camera->lie},           {"encoding", NULL, &camera->encoding},
        {"picture", NULL, &camera->picture},   {"seed", &camera->seed, NULL},
        {"planes", &camera->planes, NULL},     {"direction", NULL, &camera->direction},
        {"pictures", NULL, &camera->pictures},
    };
    bool isKnown = false;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
      if (strcmp(options[i].name, words[index]) != 0) continue;
      isKnown = true;
      if (options[i].text != NULL) *options[i].text = value;
      else *options[i].number = (uint32_t)strtoul(value, NULL, 10);
    }
    if (strcmp(words[index], "journal") == 0) {
      camera->journal = open(value, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    } else if (!isKnown) {
      return count;
    }
  }
  return index + 1;
}

static bool is_output(const struct camera *camera) {
  return strcmp(camera->direction, "output") == 0;
}

/// The type that its calls have.
static uint32_t buffer_type(const struct camera *camera) {
  if (is_output(camera)) {
    return camera->planes ? V4L2_BUF_TYPE_VIDEO_OUTPUT_MPLANE : V4L2_BUF_TYPE_VIDEO_OUTPUT;
  }
  return camera->planes ? V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE : V4L2_BUF_TYPE_VIDEO_CAPTURE;
}

static size_t picture_bytes(const struct camera *camera) {
  if (is_output(camera)) return (size_t)camera->width * camera->height * 3 / 2;
  return (size_t)camera->width * camera->height * 2;
}

static size_t buffer_bytes(const struct camera *camera) {
  return (picture_bytes(camera) + 4095) / 4096 * 4096;
}

int camera_open(struct camera *camera) {
  if (camera->isGone) {
    if (camera->looks++ < camera->absences) return -ENOENT;
    camera->isGone = false;
    camera->unplug = 0;
    note(camera, "back\n");
  }
  if (camera->file >= 0) close(camera->file);
  if (is_output(camera)) {
    note(camera, "open\n");
    camera->file = open(camera->pictures, O_RDWR | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0600);
    return camera->file < 0 ? -errno : camera->file;
  }
  camera->file = memfd_create("camera", MFD_CLOEXEC);
  if (ftruncate(camera->file, (off_t)(buffer_bytes(camera) * CAMERA_BUFFERS)) != 0) return -ENOMEM;
  camera->isRunning = false;
  camera->requested = 0;
  note(camera, "open\n");
  return camera->file;
}

// MARK: What it offers

static int query(const struct camera *camera, struct v4l2_capability *answer) {
  uint32_t direction = camera->planes ? V4L2_CAP_VIDEO_CAPTURE_MPLANE : V4L2_CAP_VIDEO_CAPTURE;
  if (is_output(camera)) {
    direction = camera->planes ? V4L2_CAP_VIDEO_OUTPUT_MPLANE : V4L2_CAP_VIDEO_OUTPUT;
    direction |= V4L2_CAP_READWRITE;
  }
  *answer = (struct v4l2_capability){.capabilities = V4L2_CAP_DEVICE_CAPS,
                                     .device_caps = direction | V4L2_CAP_STREAMING};
  strcpy((char *)answer->card, "Fake Camera");
  strcpy((char *)answer->driver, "fake");
  strcpy((char *)answer->bus_info, "test:1");
  if (lies(camera, "name")) memset(answer->card, '\033', sizeof answer->card);
  if (lies(camera, "output")) answer->device_caps = V4L2_CAP_VIDEO_OUTPUT | V4L2_CAP_STREAMING;
  return 0;
}

static uint32_t code(const struct camera *camera) {
  uint32_t code;
  memcpy(&code, camera->encoding, 4);
  return code;
}

static int describe_format(const struct camera *camera, struct v4l2_fmtdesc *answer) {
  if (answer->type != buffer_type(camera)) return -EINVAL;
  if (answer->index > 0 && !lies(camera, "endless")) return -EINVAL;
  answer->pixelformat = code(camera);
  if (camera->picture[0] != 0) answer->flags = V4L2_FMT_FLAG_COMPRESSED;
  return 0;
}

static int describe_size(const struct camera *camera, struct v4l2_frmsizeenum *answer) {
  if (answer->index > 0 && !lies(camera, "endless")) return -EINVAL;
  answer->type = V4L2_FRMSIZE_TYPE_DISCRETE;
  answer->discrete.width = camera->width;
  answer->discrete.height = camera->height;
  if (lies(camera, "range")) {
    answer->type = V4L2_FRMSIZE_TYPE_STEPWISE;
    answer->stepwise = (struct v4l2_frmsize_stepwise){0, UINT32_MAX, 0, 7, 3, 0};
  }
  return 0;
}

static int describe_interval(const struct camera *camera, struct v4l2_frmivalenum *answer) {
  if (answer->index > 0 && !lies(camera, "endless")) return -EINVAL;
  answer->type = V4L2_FRMIVAL_TYPE_DISCRETE;
  answer->discrete = (struct v4l2_fract){1, camera->fps};
  if (lies(camera, "interval")) answer->discrete = (struct v4l2_fract){0, 0};
  return 0;
}

static int set_format(const struct camera *camera, struct v4l2_format *answer) {
  if (answer->type != buffer_type(camera)) return -EINVAL;
  if (lies(camera, "busy")) return -EBUSY;
  struct v4l2_pix_format wanted = answer->fmt.pix;
  if (camera->planes) {
    wanted.width = answer->fmt.pix_mp.width;
    wanted.height = answer->fmt.pix_mp.height;
  }
  struct v4l2_pix_format pix = {
      .width = camera->width,
      .height = camera->height,
      .pixelformat = code(camera),
      .field = V4L2_FIELD_NONE,
      .bytesperline = is_output(camera) ? camera->width : camera->width * 2,
      .sizeimage = (uint32_t)picture_bytes(camera),
      .colorspace = V4L2_COLORSPACE_SRGB,
  };
  if (lies(camera, "stride")) pix.bytesperline = UINT32_MAX;
  if (lies(camera, "narrow")) pix.bytesperline = 7;
  if (lies(camera, "small")) pix.sizeimage = 100;
  if (lies(camera, "huge")) pix.sizeimage = UINT32_MAX;
  if (lies(camera, "zero")) pix.width = 0;
  if (lies(camera, "size")) pix.width /= 2;
  if (lies(camera, "other")) pix.pixelformat = 0xffffffff;
  if (lies(camera, "fields")) pix.field = V4L2_FIELD_INTERLACED;
  note(camera, "format %ux%u\n", wanted.width, wanted.height);
  if (!camera->planes) {
    answer->fmt.pix = pix;
    return 0;
  }
  answer->fmt.pix_mp = (struct v4l2_pix_format_mplane){
      .width = pix.width,
      .height = pix.height,
      .pixelformat = pix.pixelformat,
      .field = pix.field,
      .colorspace = pix.colorspace,
      .num_planes = lies(camera, "pieces") ? 2 : 1,
      .plane_fmt = {{.sizeimage = pix.sizeimage, .bytesperline = pix.bytesperline}},
  };
  return 0;
}

static int describe_control(struct v4l2_query_ext_ctrl *answer, const struct camera *camera) {
  uint32_t last = answer->id & 0x0fffffff;
  if (last >= V4L2_CID_BRIGHTNESS && !lies(camera, "endless")) return -EINVAL;
  *answer = (struct v4l2_query_ext_ctrl){.id = V4L2_CID_BRIGHTNESS,
                                         .type = V4L2_CTRL_TYPE_INTEGER,
                                         .minimum = 0,
                                         .maximum = 255,
                                         .step = 1,
                                         .default_value = 128};
  strcpy(answer->name, "Brightness");
  return 0;
}

static int control(struct camera *camera, bool isSet, struct v4l2_control *answer) {
  if (answer->id != V4L2_CID_BRIGHTNESS) return -EINVAL;
  if (isSet) {
    camera->brightness = answer->value;
    note(camera, "brightness %d\n", camera->brightness);
  }
  answer->value = camera->brightness;
  return 0;
}

// MARK: Its pictures

static int request(struct camera *camera, struct v4l2_requestbuffers *answer) {
  if (answer->type != buffer_type(camera)) return -EINVAL;
  bool isOwn = answer->memory == V4L2_MEMORY_USERPTR;
  const char *name = isOwn ? "userptr" : "mmap";
  if (camera->memory[0] != 0 && strcmp(camera->memory, name) != 0) return -EINVAL;
  if (answer->count > CAMERA_BUFFERS) answer->count = CAMERA_BUFFERS;
  camera->usesOwnMemory = isOwn;
  camera->requested = answer->count;
  camera->isRunning = false;
  memset(camera->buffers, 0, sizeof camera->buffers);
  note(camera, "request %s %u\n", name, answer->count);
  if (lies(camera, "count") && answer->count > 0) answer->count = UINT32_MAX;
  return 0;
}

/// Reads the plane of a buffer's description, where the driver has planes.
static bool read_plane(const struct camera *camera, pid_t thread, const struct v4l2_buffer *buffer,
                       struct v4l2_plane *plane) {
  if (buffer->type != buffer_type(camera)) return false;
  if (!camera->planes) return true;
  return buffer->length == 1 &&
         copy_from(thread, (uint64_t)(uintptr_t)buffer->m.planes, plane, sizeof *plane);
}

static bool write_plane(const struct camera *camera, pid_t thread, const struct v4l2_buffer *buffer,
                        const struct v4l2_plane *plane) {
  return copy_to(thread, (uint64_t)(uintptr_t)buffer->m.planes, plane, sizeof *plane);
}

static int locate(const struct camera *camera, pid_t thread, struct v4l2_buffer *answer) {
  struct v4l2_plane plane = {0};
  if (answer->index >= camera->requested || !read_plane(camera, thread, answer, &plane)) {
    return -EINVAL;
  }
  uint32_t offset = (uint32_t)(answer->index * buffer_bytes(camera));
  uint32_t length = lies(camera, "length") ? 16 : (uint32_t)buffer_bytes(camera);
  if (lies(camera, "memory")) offset += (uint32_t)buffer_bytes(camera) * CAMERA_BUFFERS;
  if (!camera->planes) {
    answer->m.offset = offset;
    answer->length = length;
    return 0;
  }
  plane.m.mem_offset = offset;
  plane.length = length;
  return write_plane(camera, thread, answer, &plane) ? 0 : -EFAULT;
}

static int queue(struct camera *camera, pid_t thread, const struct v4l2_buffer *buffer) {
  struct v4l2_plane plane = {0};
  if (buffer->index >= camera->requested || camera->buffers[buffer->index].isQueued ||
      !read_plane(camera, thread, buffer, &plane)) {
    note(camera, "wrong queue %u\n", buffer->index);
    return -EINVAL;
  }
  if (camera->usesOwnMemory && lies(camera, "contiguous")) return -EINVAL;
  camera->buffers[buffer->index].isQueued = true;
  camera->buffers[buffer->index].address = camera->planes ? plane.m.userptr : buffer->m.userptr;
  camera->buffers[buffer->index].byteCount = camera->planes ? plane.length : buffer->length;
  camera->buffers[buffer->index].order = camera->order++;
  return 0;
}

/// Every pixel of a picture has its number, as grey; or it is the file of an encoded picture.
/// Returns its bytes; 0 if it cannot be written.
static size_t write_picture(struct camera *camera, pid_t thread, uint32_t index) {
  size_t count = picture_bytes(camera);
  uint8_t *bytes = malloc(count);
  memset(bytes, 128, count);
  for (size_t i = 0; i < count; i += 2) bytes[i] = (uint8_t)(16 + camera->sequence % 200);
  if (camera->picture[0] != 0) {
    int file = open(camera->picture, O_RDONLY | O_CLOEXEC);
    ssize_t got = read(file, bytes, count);
    count = got > 0 ? (size_t)got : 0;
    close(file);
  }
  bool isWritten;
  if (camera->usesOwnMemory) {
    isWritten = camera->buffers[index].byteCount >= count &&
                copy_to(thread, camera->buffers[index].address, bytes, count);
  } else {
    isWritten = pwrite(camera->file, bytes, count, (off_t)(index * buffer_bytes(camera))) > 0;
  }
  free(bytes);
  if (!isWritten) note(camera, "cannot write %u\n", index);
  return isWritten ? count : 0;
}

static int dequeue(struct camera *camera, pid_t thread, struct v4l2_buffer *answer) {
  struct v4l2_plane plane = {0};
  if (!camera->isRunning || !read_plane(camera, thread, answer, &plane)) return -EINVAL;
  if (camera->unplug > 0 && camera->delivered >= camera->unplug) {
    if (!camera->isGone) note(camera, "gone\n");
    camera->isGone = true;
    return -ENODEV;
  }
  int first = -1;
  for (int i = 0; i < (int)camera->requested; i++) {
    bool isEarlier = first < 0 || camera->buffers[i].order < camera->buffers[first].order;
    if (camera->buffers[i].isQueued && isEarlier) first = i;
  }
  int64_t waitNs = camera->nextNs - now_ns();
  if (waitNs > 0) nanosleep(&(struct timespec){waitNs / 1000000000, waitNs % 1000000000}, NULL);
  camera->nextNs = now_ns() + 1000000000LL / camera->fps;
  if (first < 0) return -EAGAIN;
  camera->sequence++;
  camera->delivered++;
  if (camera->gap > 0 && camera->delivered % camera->gap == 0) camera->sequence++;
  size_t count = write_picture(camera, thread, (uint32_t)first);
  if (count == 0) return -EFAULT;
  camera->buffers[first].isQueued = false;
  int64_t stamp = now_ns();
  answer->index = (uint32_t)first;
  if (lies(camera, "short")) count = 10;
  if (lies(camera, "long")) count = UINT32_MAX;
  if (camera->planes) {
    plane.bytesused = (uint32_t)count;
    plane.data_offset = lies(camera, "offset") ? 64 : 0;
    if (!write_plane(camera, thread, answer, &plane)) return -EFAULT;
  } else {
    answer->bytesused = (uint32_t)count;
    if (camera->usesOwnMemory) answer->m.userptr = camera->buffers[first].address;
    answer->length = camera->buffers[first].byteCount;
  }
  answer->sequence = camera->sequence;
  answer->flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
  answer->timestamp.tv_sec = stamp / 1000000000;
  answer->timestamp.tv_usec = stamp % 1000000000 / 1000;
  if (camera->damage > 0 && camera->delivered % camera->damage == 0) {
    answer->flags |= V4L2_BUF_FLAG_ERROR;
  }
  if (lies(camera, "index")) answer->index = 77;
  if (lies(camera, "twice")) answer->index = 0;
  if (lies(camera, "sequence")) answer->sequence = (uint32_t)(camera->sequence * 2654435761u);
  if (lies(camera, "late")) answer->timestamp.tv_sec -= 2;
  if (lies(camera, "future")) answer->timestamp.tv_sec += 1000000;
  if (lies(camera, "clock")) answer->timestamp = (struct timeval){-1, INT64_MIN};
  return 0;
}

/// What one call does with its argument.
static int act(struct camera *camera, pid_t thread, uint32_t request_code, void *argument) {
  switch (request_code) {
    case VIDIOC_QUERYCAP: return query(camera, argument);
    case VIDIOC_ENUM_FMT: return describe_format(camera, argument);
    case VIDIOC_ENUM_FRAMESIZES: return describe_size(camera, argument);
    case VIDIOC_ENUM_FRAMEINTERVALS: return describe_interval(camera, argument);
    case VIDIOC_G_FMT:
    case VIDIOC_TRY_FMT:
    case VIDIOC_S_FMT: return set_format(camera, argument);
    case VIDIOC_G_PARM:
    case VIDIOC_S_PARM: {
      struct v4l2_streamparm *answer = argument;
      if (answer->type != buffer_type(camera)) return -EINVAL;
      struct v4l2_fract *interval = is_output(camera) ? &answer->parm.output.timeperframe
                                                      : &answer->parm.capture.timeperframe;
      *interval = (struct v4l2_fract){1, camera->fps};
      if (lies(camera, "interval")) *interval = (struct v4l2_fract){0, 0};
      if (lies(camera, "rate")) interval->denominator /= 2;
      return 0;
    }
    case VIDIOC_REQBUFS: return request(camera, argument);
    case VIDIOC_QUERYBUF: return locate(camera, thread, argument);
    case VIDIOC_QBUF: return queue(camera, thread, argument);
    case VIDIOC_DQBUF: return dequeue(camera, thread, argument);
    case VIDIOC_STREAMON:
      camera->isRunning = true;
      note(camera, "start\n");
      return 0;
    case VIDIOC_STREAMOFF:
      if (camera->isRunning) note(camera, "stop\n");
      camera->isRunning = false;
      return 0;
    case VIDIOC_QUERY_EXT_CTRL: return describe_control(argument, camera);
    case VIDIOC_G_CTRL:
    case VIDIOC_S_CTRL: return control(camera, request_code == VIDIOC_S_CTRL, argument);
    default: return -ENOTTY;
  }
}

/// Overwrites bytes of an answer, as a driver with faults may: of one answer in eight.
static void spoil(struct camera *camera, uint8_t *answer, size_t count) {
  for (int step = 0; step < 8; step++) {
    camera->seed ^= camera->seed << 13;
    camera->seed ^= camera->seed >> 17;
    camera->seed ^= camera->seed << 5;
    if (step == 0 && camera->seed % 8 != 0) return;
    answer[camera->seed / 256 % count] = (uint8_t)camera->seed;
  }
}

int camera_answer(struct camera *camera, pid_t thread, uint32_t request_code, uint64_t address) {
  size_t count = (request_code >> 16) & 0x3fff;
  uint8_t argument[4096] = {0};
  if (count > sizeof argument || !copy_from(thread, address, argument, count)) return -EFAULT;
  if (camera->isGone) return -ENODEV;
  int result = act(camera, thread, request_code, argument);
  if (camera->seed != 0 && count > 0) spoil(camera, argument, count);
  if (result == 0 && !copy_to(thread, address, argument, count)) return -EFAULT;
  return result;
}
