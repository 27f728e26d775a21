// The format of a stream's frames, and how they are seen as arrays.
#include "native.h"

#include <string.h>

static PyTypeObject *format_type;

static const fb_word kinds[] = {{"video", FRAMEBUS_KIND_VIDEO},
                                {"app-audio", FRAMEBUS_KIND_APP_AUDIO},
                                {"mic-audio", FRAMEBUS_KIND_MIC_AUDIO},
                                {"data", FRAMEBUS_KIND_DATA},
                                {NULL, 0}};
static const fb_word ranges[] = {{"unspecified", FRAMEBUS_RANGE_UNSPECIFIED},
                                 {"limited", FRAMEBUS_RANGE_LIMITED},
                                 {"full", FRAMEBUS_RANGE_FULL},
                                 {NULL, 0}};
static const fb_word samples[] = {
    {"u8", FRAMEBUS_U8},       {"s8", FRAMEBUS_S8},       {"s16le", FRAMEBUS_S16LE},
    {"s16be", FRAMEBUS_S16BE}, {"s24le", FRAMEBUS_S24LE}, {"s24be", FRAMEBUS_S24BE},
    {"s24in32le", FRAMEBUS_S24IN32LE}, {"s24in32be", FRAMEBUS_S24IN32BE},
    {"s32le", FRAMEBUS_S32LE}, {"s32be", FRAMEBUS_S32BE}, {"f32le", FRAMEBUS_F32LE},
    {"f32be", FRAMEBUS_F32BE}, {"f64le", FRAMEBUS_F64LE}, {"f64be", FRAMEBUS_F64BE},
    {NULL, 0}};

/// An element of raw sound. DLPack knows no big-endian numbers: 0 bits.
static const struct {
  uint32_t sample_format;
  const char *code;
  uint8_t dl_code, dl_bits, itemsize, parts;
} elements[] = {
    {FRAMEBUS_U8, "B", 1, 8, 1, 1},         {FRAMEBUS_S8, "b", 0, 8, 1, 1},
    {FRAMEBUS_S16LE, "h", 0, 16, 2, 1},     {FRAMEBUS_S16BE, ">h", 0, 0, 2, 1},
    {FRAMEBUS_S24LE, "B", 1, 8, 1, 3},      {FRAMEBUS_S24BE, "B", 1, 8, 1, 3},
    {FRAMEBUS_S24IN32LE, "i", 0, 32, 4, 1}, {FRAMEBUS_S24IN32BE, ">i", 0, 0, 4, 1},
    {FRAMEBUS_S32LE, "i", 0, 32, 4, 1},     {FRAMEBUS_S32BE, ">i", 0, 0, 4, 1},
    {FRAMEBUS_F32LE, "f", 2, 32, 4, 1},     {FRAMEBUS_F32BE, ">f", 2, 0, 4, 1},
    {FRAMEBUS_F64LE, "d", 2, 64, 8, 1},     {FRAMEBUS_F64BE, ">d", 2, 0, 8, 1},
};

/// A raw picture's planes: channels, and by how much width and height are divided.
static const struct {
  uint32_t fourcc;
  struct {
    uint8_t channels, width, height;
  } planes[3];
} pictures[] = {
    {FRAMEBUS_XRGB8888, {{4, 1, 1}}},          {FRAMEBUS_ARGB8888, {{4, 1, 1}}},
    {FRAMEBUS_XBGR8888, {{4, 1, 1}}},          {FRAMEBUS_ABGR8888, {{4, 1, 1}}},
    {FRAMEBUS_BGR888, {{3, 1, 1}}},            {FRAMEBUS_YUYV, {{2, 1, 1}}},
    {FRAMEBUS_NV12, {{1, 1, 1}, {2, 2, 2}}},   {FRAMEBUS_YUV420, {{1, 1, 1}, {1, 2, 2}, {1, 2, 2}}},
};

/// Fills in the planes whose bytes all lie in the frame; none if one does not.
static void find_planes(fb_format *format) {
  const framebus_format *c = &format->c;
  for (size_t index = 0; index < sizeof pictures / sizeof *pictures; index++) {
    if (pictures[index].fourcc != c->fourcc || c->kind != FRAMEBUS_KIND_VIDEO) continue;
    uint32_t count = c->plane_count > 3 ? 0 : c->plane_count;
    for (uint32_t plane = 0; plane < count; plane++) {
      Py_ssize_t channels = pictures[index].planes[plane].channels;
      if (channels == 0) return;
      Py_ssize_t across = pictures[index].planes[plane].width;
      Py_ssize_t down = pictures[index].planes[plane].height;
      Py_ssize_t width = (c->width + across - 1) / across;
      Py_ssize_t height = (c->height + down - 1) / down;
      Py_ssize_t stride = c->planes[plane].stride, offset = c->planes[plane].offset;
      if (width < 1 || height < 1 || stride < width * channels ||
          (uint64_t)(offset + (height - 1) * stride + width * channels) > c->byte_count)
        return;
      format->planes[plane] = (fb_layout){
          .code = "B", .dl_code = 1, .dl_bits = 8, .ndim = channels > 1 ? 3 : 2, .itemsize = 1,
          .offset = offset, .shape = {height, width, channels}, .strides = {stride, channels, 1}};
    }
    format->plane_count = (int)count;
  }
}

PyObject *fb_format_new(const framebus_format *c) {
  fb_format *format = (fb_format *)PyType_GenericAlloc(format_type, 0);
  if (!format) return NULL;
  format->c = *c;
  format->c.size = sizeof format->c;
  find_planes(format);
  format->whole = format->plane_count == 1 ? format->planes[0]
                                           : fb_layout_flat((Py_ssize_t)c->byte_count);
  return (PyObject *)format;
}

static bool is_raw_sound(const framebus_format *c) {
  return c->fourcc == FRAMEBUS_PCM && c->channel_count > 0 &&
         (c->kind == FRAMEBUS_KIND_APP_AUDIO || c->kind == FRAMEBUS_KIND_MIC_AUDIO);
}

static fb_layout sound_layout(const framebus_format *c, Py_ssize_t byte_count) {
  for (size_t index = 0; index < sizeof elements / sizeof *elements; index++) {
    if (elements[index].sample_format != c->sample_format) continue;
    Py_ssize_t itemsize = elements[index].itemsize, parts = elements[index].parts;
    Py_ssize_t channels = c->channel_count, sample = itemsize * parts;
    Py_ssize_t count = byte_count / (sample * channels);
    fb_layout layout = {.dl_code = elements[index].dl_code, .dl_bits = elements[index].dl_bits,
                        .ndim = parts > 1 ? 3 : 2, .itemsize = itemsize};
    memcpy(layout.code, elements[index].code, strlen(elements[index].code) + 1);
    Py_ssize_t first = c->is_planar ? channels : count, second = c->is_planar ? count : channels;
    Py_ssize_t shape[FB_DIMENSIONS] = {first, second, parts};
    Py_ssize_t strides[FB_DIMENSIONS] = {second * sample, sample, itemsize};
    memcpy(layout.shape, shape, sizeof shape);
    memcpy(layout.strides, strides, sizeof strides);
    return layout;
  }
  return fb_layout_flat(byte_count);
}

fb_layout fb_format_layout(const fb_format *format, uint64_t byte_count) {
  if (format->plane_count == 1 && byte_count >= format->c.byte_count) return format->whole;
  if (is_raw_sound(&format->c)) return sound_layout(&format->c, (Py_ssize_t)byte_count);
  return fb_layout_flat((Py_ssize_t)byte_count);
}

PyObject *fb_format_planes(const fb_format *format, fb_owner *owner, uint64_t byte_count) {
  int count = byte_count >= format->c.byte_count ? format->plane_count : 0;
  PyObject *tuple = PyTuple_New(count);
  for (int index = 0; tuple && index < count; index++) {
    PyObject *plane = fb_plane_new(owner, &format->planes[index]);
    if (!plane) {
      Py_DECREF(tuple);
      return NULL;
    }
    PyTuple_SetItem(tuple, index, plane);
  }
  return tuple;
}

fb_format *fb_format_check(PyObject *object) {
  if (Py_TYPE(object) == format_type) return (fb_format *)object;
  PyErr_Format(PyExc_TypeError, "format is %R; use a framebus.Format", object);
  return NULL;
}

// ---- Constructors

static int read_fourcc(const char *text, Py_ssize_t size, uint32_t *fourcc) {
  if (size != 4) {
    PyErr_Format(PyExc_ValueError, "fourcc is '%s'; use four characters, such as 'XR24'", text);
    return -1;
  }
  *fourcc = FRAMEBUS_FOURCC(text[0], text[1], text[2], text[3]);
  return 0;
}

static PyObject *checked(int code, const framebus_error *error, const framebus_format *format) {
  return code < 0 ? fb_raise(code, error) : fb_format_new(format);
}

static PyObject *format_video(PyObject *type, PyObject *arguments, PyObject *keywords) {
  (void)type;
  static char *names[] = {"fourcc",   "width",  "height", "rate", "primaries",
                          "transfer", "matrix", "range",  NULL};
  const char *text;
  Py_ssize_t size;
  unsigned width, height;
  unsigned char primaries = 2, transfer = 2, matrix = 2;
  PyObject *rate = Py_None, *range = NULL;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "s#II|$ObbbO:video", names, &text, &size,
                                   &width, &height, &rate, &primaries, &transfer, &matrix, &range))
    return NULL;
  framebus_format format = {.size = sizeof format};
  uint32_t fourcc;
  FB_ERROR(error);
  if (read_fourcc(text, size, &fourcc) < 0) return NULL;
  int code = framebus_format_video(fourcc, width, height, &format, &error);
  if (code < 0) return fb_raise(code, &error);
  format.color_primaries = primaries;
  format.color_transfer = transfer;
  format.color_matrix = matrix;
  uint32_t value = FRAMEBUS_RANGE_UNSPECIFIED;
  if (range && fb_value_of(range, ranges, "range", &value) < 0) return NULL;
  format.color_range = (uint8_t)value;
  if (fb_rate(rate, &format.rate_numerator, &format.rate_denominator) < 0) return NULL;
  return fb_format_new(&format);
}

static PyObject *format_audio(PyObject *type, PyObject *arguments, PyObject *keywords) {
  (void)type;
  static char *names[] = {"samples", "rate", "channels", "maximum_frames", "kind", "planar", NULL};
  PyObject *sample = NULL, *kind = NULL;
  unsigned rate, channels, maximum;
  int planar = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OIII|$Op:audio", names, &sample, &rate,
                                   &channels, &maximum, &kind, &planar))
    return NULL;
  uint32_t sample_format, kind_value = FRAMEBUS_KIND_APP_AUDIO;
  if (fb_value_of(sample, samples, "samples", &sample_format) < 0 ||
      (kind && fb_value_of(kind, kinds, "kind", &kind_value) < 0))
    return NULL;
  framebus_format format = {.size = sizeof format};
  FB_ERROR(error);
  int code =
      framebus_format_audio(kind_value, sample_format, rate, channels, maximum, &format, &error);
  format.is_planar = (uint32_t)planar;
  return checked(code, &error, &format);
}

static PyObject *format_data(PyObject *type, PyObject *arguments, PyObject *keywords) {
  (void)type;
  static char *names[] = {"byte_count", "fourcc", "kind", "width", "height", "rate", NULL};
  unsigned long long byte_count;
  const char *text = "\0\0\0\0";
  Py_ssize_t size = 4;
  unsigned width = 0, height = 0;
  PyObject *kind = NULL, *rate = Py_None;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "K|$s#OIIO:data", names, &byte_count, &text,
                                   &size, &kind, &width, &height, &rate))
    return NULL;
  framebus_format format = {.size = sizeof format, .byte_count = byte_count,
                            .kind = FRAMEBUS_KIND_DATA, .width = width, .height = height,
                            .color_primaries = 2, .color_transfer = 2, .color_matrix = 2};
  if (read_fourcc(text, size, &format.fourcc) < 0 ||
      (kind && fb_value_of(kind, kinds, "kind", &format.kind) < 0) ||
      fb_rate(rate, &format.rate_numerator, &format.rate_denominator) < 0)
    return NULL;
  return fb_format_new(&format);
}

// ---- Properties

static PyObject *format_kind(PyObject *self, void *unused) {
  (void)unused;
  return fb_word_of(((fb_format *)self)->c.kind, kinds);
}

static PyObject *format_fourcc(PyObject *self, void *unused) {
  (void)unused;
  char text[5] = {0};
  uint32_t value = ((fb_format *)self)->c.fourcc;
  for (int index = 0; index < 4; index++) text[index] = (char)(value >> 8 * index);
  return PyUnicode_DecodeLatin1(text, value ? 4 : 0, NULL);
}

static PyObject *format_rate(PyObject *self, void *unused) {
  (void)unused;
  const framebus_format *c = &((fb_format *)self)->c;
  return fb_rate_object(c->rate_numerator, c->rate_denominator);
}

static PyObject *format_range(PyObject *self, void *unused) {
  (void)unused;
  return fb_word_of(((fb_format *)self)->c.color_range, ranges);
}

static PyObject *format_samples(PyObject *self, void *unused) {
  (void)unused;
  uint32_t value = ((fb_format *)self)->c.sample_format;
  if (value == 0) Py_RETURN_NONE;
  return fb_word_of(value, samples);
}

static PyObject *format_plane_layouts(PyObject *self, void *unused) {
  (void)unused;
  const framebus_format *c = &((fb_format *)self)->c;
  uint32_t count = c->plane_count < FRAMEBUS_MAXIMUM_PLANES ? c->plane_count : 4;
  PyObject *tuple = PyTuple_New(count);
  for (uint32_t index = 0; tuple && index < count; index++) {
    PyObject *pair = Py_BuildValue("II", c->planes[index].offset, c->planes[index].stride);
    if (!pair) {
      Py_DECREF(tuple);
      return NULL;
    }
    PyTuple_SetItem(tuple, index, pair);
  }
  return tuple;
}

static PyObject *format_compare(PyObject *one, PyObject *other, int operation) {
  if (Py_TYPE(other) != format_type || (operation != Py_EQ && operation != Py_NE))
    Py_RETURN_NOTIMPLEMENTED;
  const fb_format *left = (fb_format *)one, *right = (fb_format *)other;
  bool same = memcmp(&left->c, &right->c, sizeof left->c) == 0;
  return PyBool_FromLong(same == (operation == Py_EQ));
}

static Py_hash_t format_hash(PyObject *self) {
  const framebus_format *c = &((fb_format *)self)->c;
  uint64_t hash = c->byte_count * 31 + c->fourcc;
  hash = hash * 31 + c->width;
  hash = hash * 31 + c->sample_rate;
  return (Py_hash_t)(hash >> 1);
}

static PyObject *format_repr(PyObject *self) {
  const framebus_format *c = &((fb_format *)self)->c;
  PyObject *fourcc = format_fourcc(self, NULL), *result = NULL;
  if (!fourcc) return NULL;
  if (c->width > 0) {
    result = PyUnicode_FromFormat("<framebus.Format %U %ux%u>", fourcc, c->width, c->height);
  } else if (c->sample_rate > 0) {
    result = PyUnicode_FromFormat("<framebus.Format %U %u Hz, %u channels>", fourcc,
                                  c->sample_rate, c->channel_count);
  } else {
    result = PyUnicode_FromFormat("<framebus.Format data, %llu bytes>",
                                  (unsigned long long)c->byte_count);
  }
  Py_DECREF(fourcc);
  return result;
}

static void format_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

#define FIELD(name, type, field, text) \
  {name, type, offsetof(fb_format, c) + offsetof(framebus_format, field), READONLY, text}

static PyMemberDef members[] = {
    FIELD("byte_count", T_ULONGLONG, byte_count,
          "Bytes of a raw picture; else the most that a frame may have."),
    FIELD("width", T_UINT, width, "Pixels; 0 unless it is a picture."),
    FIELD("height", T_UINT, height, "Pixels; 0 unless it is a picture."),
    FIELD("primaries", T_UBYTE, color_primaries, "Colour primaries by ITU-T H.273."),
    FIELD("transfer", T_UBYTE, color_transfer, "Transfer characteristics by ITU-T H.273."),
    FIELD("matrix", T_UBYTE, color_matrix, "Matrix coefficients by ITU-T H.273."),
    FIELD("sample_rate", T_UINT, sample_rate, "Samples a second; 0 without sound."),
    FIELD("channels", T_UINT, channel_count, "Channels of sound."),
    FIELD("planar", T_UINT, is_planar, "1 if one channel follows the other, 0 if interleaved."),
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"kind", format_kind, NULL, "'video', 'app-audio', 'mic-audio' or 'data'.", NULL},
    {"fourcc", format_fourcc, NULL, "The code, such as 'XR24'; '' without one.", NULL},
    {"rate", format_rate, NULL, "Frames a second as a Fraction; None if variable.", NULL},
    {"range", format_range, NULL, "'unspecified', 'limited' or 'full'.", NULL},
    {"samples", format_samples, NULL, "The kind of samples, such as 's16le'; None.", NULL},
    {"planes", format_plane_layouts, NULL, "(offset, stride) of each plane, in bytes.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"video", FB_METHOD(format_video), METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     "The format of raw pictures: rows padded to 4 bytes, planes one after the other."},
    {"audio", FB_METHOD(format_audio), METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     "The format of raw sound, in frames of up to maximum_frames samples of each channel."},
    {"data", FB_METHOD(format_data), METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     "The format of other data, or of encoded pictures, with up to byte_count bytes."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "What the frames of a stream contain. Made by video, audio and data."},
    {Py_tp_dealloc, format_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_tp_getset, properties},
    {Py_tp_richcompare, format_compare},
    {Py_tp_hash, format_hash},
    {Py_tp_repr, format_repr},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "framebus.Format",
    .basicsize = sizeof(fb_format),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int fb_format_init(PyObject *module) {
  format_type = fb_add_type(module, &spec);
  return format_type ? 0 : -1;
}
