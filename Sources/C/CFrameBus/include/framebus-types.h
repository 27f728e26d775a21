/* The structures and constants that the calls of framebus.h share. */
#ifndef FRAMEBUS_TYPES_H
#define FRAMEBUS_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* ---- Results ---- */

enum {
  FRAMEBUS_OK = 0,
  FRAMEBUS_TIMED_OUT = 1, /* the deadline passed; with deadline 0, there is nothing at present */
  FRAMEBUS_STOPPED = 2,   /* the stop handle was raised */
  FRAMEBUS_FINISHED = 3,  /* the publisher ended the stream, and all its frames were offered */

  FRAMEBUS_ERROR_ARGUMENT = -1,
  FRAMEBUS_ERROR_HANDLE = -2,
  FRAMEBUS_ERROR_FORKED = -3,
  FRAMEBUS_ERROR_BUSY = -4,       /* in use: a stream has a publisher, a suite is locked */
  FRAMEBUS_ERROR_NOT_FOUND = -5,  /* no such group, stream, semaphore, key or credential */
  FRAMEBUS_ERROR_EXISTS = -6,
  FRAMEBUS_ERROR_PERMISSION = -7, /* this user or role may not */
  FRAMEBUS_ERROR_LIMIT = -8,      /* all leases, loans, seats or permits are in use, or the data
                                     is too large */
  FRAMEBUS_ERROR_PAUSED = -9,     /* the stream is paused: resume it before the next loan */
  FRAMEBUS_ERROR_BACKPRESSURE = -10, /* a lossless subscriber has not received the oldest frame */
  FRAMEBUS_ERROR_REFUSED = -11,   /* the publisher refuses this subscriber */
  FRAMEBUS_ERROR_UNTRUSTED = -12, /* a peer or file breaks the protocol; nothing of it was used */
  FRAMEBUS_ERROR_NO_ANSWER = -13, /* the publisher runs, but does not answer */
  FRAMEBUS_ERROR_SYSTEM = -14,    /* a system call failed: see system_error */
  FRAMEBUS_ERROR_TYPE = -15       /* a setting has another type */
};

typedef struct framebus_error {
  size_t size;
  int32_t code;         /* as returned */
  int32_t system_error; /* errno of the failed system call; 0 if unknown */
  char message[1024];   /* UTF-8, never a secret; cut at the end if it is longer */
} framebus_error;
#define FRAMEBUS_ERROR_INIT {sizeof(framebus_error), 0, 0, {0}}

/* ---- Formats ---- */

/* A four-character code. Raw pictures have the codes of drm_fourcc.h; docs and values of codecs:
 * H264, HEVC, VP80, VP90, AV01, MJPG, Opus, mp4a, fLaC. */
#define FRAMEBUS_FOURCC(a, b, c, d)                                                   \
  ((uint32_t)(unsigned char)(a) | (uint32_t)(unsigned char)(b) << 8 |                 \
   (uint32_t)(unsigned char)(c) << 16 | (uint32_t)(unsigned char)(d) << 24)
#define FRAMEBUS_XRGB8888 FRAMEBUS_FOURCC('X', 'R', '2', '4') /* bytes B, G, R, unused */
#define FRAMEBUS_ARGB8888 FRAMEBUS_FOURCC('A', 'R', '2', '4') /* bytes B, G, R, A */
#define FRAMEBUS_XBGR8888 FRAMEBUS_FOURCC('X', 'B', '2', '4') /* bytes R, G, B, unused */
#define FRAMEBUS_ABGR8888 FRAMEBUS_FOURCC('A', 'B', '2', '4') /* bytes R, G, B, A */
#define FRAMEBUS_BGR888 FRAMEBUS_FOURCC('B', 'G', '2', '4')   /* bytes R, G, B */
#define FRAMEBUS_YUYV FRAMEBUS_FOURCC('Y', 'U', 'Y', 'V')
#define FRAMEBUS_NV12 FRAMEBUS_FOURCC('N', 'V', '1', '2')
#define FRAMEBUS_YUV420 FRAMEBUS_FOURCC('Y', 'U', '1', '2')
#define FRAMEBUS_PCM FRAMEBUS_FOURCC('l', 'p', 'c', 'm') /* raw sound */
#define FRAMEBUS_H264 FRAMEBUS_FOURCC('H', '2', '6', '4')
#define FRAMEBUS_OPUS FRAMEBUS_FOURCC('O', 'p', 'u', 's')

enum { /* framebus_format.kind */
  FRAMEBUS_KIND_VIDEO = 1,
  FRAMEBUS_KIND_APP_AUDIO = 2,
  FRAMEBUS_KIND_MIC_AUDIO = 3,
  FRAMEBUS_KIND_DATA = 4
};
enum { /* framebus_format.color_range */
  FRAMEBUS_RANGE_UNSPECIFIED = 0,
  FRAMEBUS_RANGE_LIMITED = 1,
  FRAMEBUS_RANGE_FULL = 2
};
enum { /* framebus_format.sample_format; 24IN32: the low three bytes of four */
  FRAMEBUS_U8 = 1,
  FRAMEBUS_S8,
  FRAMEBUS_S16LE,
  FRAMEBUS_S16BE,
  FRAMEBUS_S24LE,
  FRAMEBUS_S24BE,
  FRAMEBUS_S24IN32LE,
  FRAMEBUS_S24IN32BE,
  FRAMEBUS_S32LE,
  FRAMEBUS_S32BE,
  FRAMEBUS_F32LE,
  FRAMEBUS_F32BE,
  FRAMEBUS_F64LE,
  FRAMEBUS_F64BE
};

#define FRAMEBUS_MAXIMUM_PLANES 4
typedef struct framebus_plane {
  uint32_t offset; /* bytes from the frame's first byte */
  uint32_t stride; /* bytes from one row to the next */
} framebus_plane;

typedef struct framebus_format {
  size_t size;
  uint64_t byte_count; /* of a raw picture; else the most that a frame may have. 1 to 2^32 - 1 */
  uint32_t kind;
  uint32_t fourcc;
  uint32_t width; /* pixels, to 65535; 0 unless it is a picture. height likewise */
  uint32_t height;
  uint32_t rate_numerator; /* frames a second; 0 and 1 if frames come with changes alone */
  uint32_t rate_denominator;
  uint32_t plane_count; /* 0 unless it is a raw picture */
  framebus_plane planes[FRAMEBUS_MAXIMUM_PLANES];
  uint8_t color_primaries; /* ITU-T H.273; 2 is unspecified. So are transfer and matrix */
  uint8_t color_transfer;
  uint8_t color_matrix;
  uint8_t color_range;
  uint32_t sample_format; /* 0 without sound; of encoded sound, what it decodes to */
  uint32_t sample_rate;   /* Hz */
  uint32_t channel_count; /* 1 to 256 */
  uint64_t channel_mask;  /* dwChannelMask of WAVEFORMATEXTENSIBLE; 0 is unspecified */
  uint32_t is_planar;     /* 0: interleaved; 1: a channel after the other, each equally long */
  uint32_t reserved;      /* 0 */
} framebus_format;

/* ---- Metadata ---- */

enum { /* framebus_metadata.flags; unknown bits are passed on */
  FRAMEBUS_FLAG_KEY_FRAME = 1,     /* decodes without earlier frames; implied for raw pictures */
  FRAMEBUS_FLAG_DISCONTINUITY = 2, /* time or content jumps here */
  FRAMEBUS_FLAG_SILENCE = 4,
  FRAMEBUS_FLAG_PROTECTED = 8,     /* parts were blanked: they must not be recorded */
  FRAMEBUS_FLAG_REPEATED = 16,     /* the same picture as before */
  FRAMEBUS_FLAG_DROPPABLE = 32,
  FRAMEBUS_FLAG_CONFIGURATION = 64, /* parameter sets alone */
  FRAMEBUS_FLAG_REDUCED = 128      /* smaller than the source, as nobody needs more */
};

typedef struct framebus_rect {
  uint32_t x, y, width, height; /* pixels of the picture in memory, from its top left corner */
} framebus_rect;

#define FRAMEBUS_MAXIMUM_DAMAGE 4
#define FRAMEBUS_DAMAGE_FULL UINT32_MAX /* damage_count: everything changed, or it is unknown */

typedef struct framebus_metadata {
  size_t size;
  int64_t pts_ns;          /* presentation time; CLOCK_MONOTONIC for live sources */
  uint64_t duration_ns;    /* 0 is unknown */
  uint64_t captured_at_ns; /* CLOCK_MONOTONIC; 0 if it was not captured but read */
  uint32_t flags;
  uint32_t orientation; /* 1 to 8 as in EXIF; 1 is upright. The viewer applies it */
  framebus_rect crop;   /* the visible part; width 0: all of it */
  uint32_t damage_count;
  uint32_t reserved; /* 0 */
  framebus_rect damage[FRAMEBUS_MAXIMUM_DAMAGE]; /* what changed */
} framebus_metadata;

#endif
