#include "Receiver.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <util/threading.h>

// How long a publisher may be gone before its last picture disappears.
static const uint64_t absence_ns = 1000000000;
// The time from an error, or an end, to the next attempt.
static const uint64_t retry_ns = 1000000000;

typedef struct {
  char *stream, *group, *root;
} Names;

struct Receiver {
  obs_source_t *source;
  ReceiverKind kind;
  pthread_t thread;

  pthread_mutex_t lock; // of all that follows
  pthread_cond_t changed;
  Names names;
  bool is_wanted, is_ending;
  uint64_t version;     // counts changes of names and of is_wanted
  framebus_stop *stop;  // of the present session
  char state[1200];

  // Only the thread uses these.
  PluginPicture picture;
  struct obs_source_audio audio;
  uint64_t generation, epoch;
  framebus_rect crop;
  uint32_t orientation;
  const char *problem; // of the present format
  uint8_t *opaque;     // a picture whose fourth byte was set
  size_t opaque_size;
};

static void names_free(Names *names) {
  bfree(names->stream);
  bfree(names->group);
  bfree(names->root);
}

// ---- The other threads' side ----

// Ends the present session. Under the lock.
static void announce(Receiver *self) {
  self->version += 1;
  if (self->stop != NULL) framebus_stop_raise(self->stop);
  pthread_cond_signal(&self->changed);
}

void receiver_choose(Receiver *self, const char *stream, const char *group, const char *root) {
  pthread_mutex_lock(&self->lock);
  if (strcmp(self->names.stream, stream) != 0 || strcmp(self->names.group, group) != 0 ||
      strcmp(self->names.root, root) != 0) {
    names_free(&self->names);
    self->names = (Names){bstrdup(stream), bstrdup(group), bstrdup(root)};
    announce(self);
  }
  pthread_mutex_unlock(&self->lock);
}

void receiver_want(Receiver *self, bool is_wanted) {
  pthread_mutex_lock(&self->lock);
  if (self->is_wanted != is_wanted) {
    self->is_wanted = is_wanted;
    announce(self);
  }
  pthread_mutex_unlock(&self->lock);
}

void receiver_describe(Receiver *self, char *text, size_t size) {
  pthread_mutex_lock(&self->lock);
  snprintf(text, size, "%s", self->state);
  pthread_mutex_unlock(&self->lock);
}

// ---- What the user reads ----

// Says it once: the same again, after the next attempt, is not logged.
static void say(Receiver *self, int level, const Names *names, const char *text) {
  pthread_mutex_lock(&self->lock);
  bool is_new = strcmp(self->state, text) != 0;
  if (is_new) snprintf(self->state, sizeof self->state, "%s", text);
  pthread_mutex_unlock(&self->lock);
  if (is_new) plugin_log(level, names->stream, text);
}

static void say_error(Receiver *self, const Names *names, const framebus_error *error) {
  bool has_message = error->message[0] != 0;
  say(self, LOG_WARNING, names, has_message ? error->message : framebus_strerror(error->code));
}

static void say_format(Receiver *self, const Names *names, const framebus_format *format) {
  char text[200];
  if (self->kind == RECEIVER_PICTURES) {
    snprintf(text, sizeof text, "receiving pictures, %u×%u", format->width, format->height);
  } else {
    snprintf(text, sizeof text, "receiving sound, %u Hz, channels: %u", format->sample_rate,
             format->channel_count);
  }
  say(self, LOG_INFO, names, text);
}

// ---- Frames ----

// Reads the format of a frame if it may differ from that of the one before.
static const char *follow_format(Receiver *self, const Names *names, const framebus_frame *frame,
                                 const framebus_metadata *metadata) {
  bool is_same = frame->generation == self->generation && frame->format_epoch == self->epoch &&
                 memcmp(&metadata->crop, &self->crop, sizeof self->crop) == 0 &&
                 metadata->orientation == self->orientation;
  if (is_same) return self->problem;
  framebus_format format = {.size = sizeof format};
  framebus_error error = FRAMEBUS_ERROR_INIT;
  if (framebus_lease_format(frame->lease, &format, &error) != FRAMEBUS_OK) {
    return framebus_strerror(error.code);
  }
  if (self->kind == RECEIVER_PICTURES) {
    self->problem = plugin_describe_picture(&self->picture, &format, metadata, frame->byte_count);
  } else {
    self->problem = plugin_describe_sound(&self->audio, &format);
  }
  self->generation = frame->generation;
  self->epoch = frame->format_epoch;
  self->crop = metadata->crop;
  self->orientation = metadata->orientation;
  if (self->problem != NULL) {
    say(self, LOG_WARNING, names, self->problem);
    if (self->kind == RECEIVER_PICTURES) obs_source_output_video2(self->source, NULL);
  } else {
    say_format(self, names, &format);
    if (self->kind == RECEIVER_PICTURES) {
      obs_source_set_async_rotation(self->source, self->picture.rotation);
    }
  }
  return self->problem;
}

// Copies a picture whose fourth byte has no meaning, because OBS would take it for alpha.
static const uint8_t *make_opaque(Receiver *self, const uint8_t *bytes) {
  const struct obs_source_frame2 *frame = &self->picture.frame;
  size_t row = (size_t)frame->width * 4, size = row * frame->height;
  if (self->opaque_size < size) {
    bfree(self->opaque);
    self->opaque = bmalloc(size);
    self->opaque_size = size;
  }
  for (uint32_t y = 0; y < frame->height; y += 1) {
    const uint8_t *from = bytes + (size_t)y * frame->linesize[0];
    uint8_t *into = self->opaque + (size_t)y * row;
    memcpy(into, from, row);
    for (size_t x = 3; x < row; x += 4) into[x] = 255;
  }
  return self->opaque;
}

static uint64_t time_of(const framebus_frame *frame) {
  return frame->pts_ns >= 0 ? (uint64_t)frame->pts_ns : frame->published_at_ns;
}

static void show_picture(Receiver *self, const framebus_frame *frame) {
  struct obs_source_frame2 shown = self->picture.frame;
  const PluginLayout *layout = self->picture.layout;
  const uint8_t *bytes = frame->bytes;
  for (int plane = 0; plane < layout->plane_count; plane += 1) {
    // OBS only reads: its structure has no const.
    shown.data[plane] = (uint8_t *)(uintptr_t)(bytes + self->picture.offsets[plane]);
  }
  if (layout->is_opaque) {
    shown.data[0] = (uint8_t *)(uintptr_t)make_opaque(self, shown.data[0]);
    shown.linesize[0] = shown.width * 4;
  }
  shown.timestamp = time_of(frame);
  obs_source_output_video2(self->source, &shown);
}

static void play_sound(Receiver *self, const framebus_frame *frame) {
  struct obs_source_audio played = self->audio;
  size_t planes = get_audio_planes(played.format, played.speakers);
  size_t sample = get_audio_bytes_per_channel(played.format);
  size_t count = frame->byte_count / sample / get_audio_channels(played.speakers);
  const uint8_t *bytes = frame->bytes;
  for (size_t plane = 0; plane < planes; plane += 1) {
    played.data[plane] = bytes + plane * count * sample;
  }
  played.frames = (uint32_t)count;
  played.timestamp = time_of(frame);
  if (count > 0) obs_source_output_audio(self->source, &played);
}

static void take(Receiver *self, const Names *names, const framebus_frame *frame) {
  framebus_metadata metadata = {.size = sizeof metadata};
  framebus_error error = FRAMEBUS_ERROR_INIT;
  if (framebus_lease_metadata(frame->lease, &metadata, &error) != FRAMEBUS_OK) {
    say_error(self, names, &error);
  } else if (follow_format(self, names, frame, &metadata) == NULL) {
    if (self->kind == RECEIVER_PICTURES) {
      show_picture(self, frame);
    } else {
      play_sound(self, frame);
    }
  }
  framebus_lease_release(frame->lease);
}

// ---- Sessions ----

static void clear_picture(Receiver *self) {
  self->generation = 0;
  if (self->kind == RECEIVER_PICTURES) obs_source_output_video2(self->source, NULL);
}

static void note_absence(Receiver *self, framebus_subscriber *subscriber, const Names *names) {
  framebus_subscriber_status status = {.size = sizeof status};
  bool is_known = framebus_subscriber_get_status(subscriber, &status, NULL) == FRAMEBUS_OK;
  if (!is_known || status.generation != 0) return;
  say(self, LOG_WARNING, names, "its publisher is gone; start it again, and the picture returns");
  clear_picture(self);
}

static void receive(Receiver *self, framebus_subscriber *subscriber, const Names *names,
                    framebus_stop *stop) {
  while (true) {
    framebus_frame frame = FRAMEBUS_FRAME_INIT;
    framebus_error error = FRAMEBUS_ERROR_INIT;
    switch (framebus_subscriber_next(subscriber, framebus_after_ns(absence_ns), stop, &frame,
                                     &error)) {
      case FRAMEBUS_OK: take(self, names, &frame); break;
      case FRAMEBUS_TIMED_OUT: note_absence(self, subscriber, names); break;
      case FRAMEBUS_STOPPED: return;
      case FRAMEBUS_FINISHED:
        say(self, LOG_INFO, names, "it has ended; waiting for its next publisher");
        return;
      default: say_error(self, names, &error); return;
    }
  }
}

// Waits for a publisher.
static int attach(Receiver *self, framebus_group *group, const Names *names, framebus_stop *stop,
                  framebus_subscriber **subscriber, framebus_error *error) {
  framebus_subscriber_options options = FRAMEBUS_SUBSCRIBER_OPTIONS_INIT;
  uint64_t deadline = 0;
  if (self->kind == RECEIVER_SOUND) {
    // Each chunk in order; of pictures the newest is enough.
    options.policy = FRAMEBUS_POLICY_KEEP_LATEST;
    options.policy_count = 64;
  }
  while (true) {
    int result =
        framebus_subscriber_open(group, names->stream, &options, deadline, stop, subscriber, error);
    if (result == FRAMEBUS_ERROR_NOT_FOUND && deadline == 0) {
      say(self, LOG_INFO, names, "nobody publishes it; waiting for its publisher");
      deadline = FRAMEBUS_NEVER;
    } else if (result == FRAMEBUS_ERROR_REFUSED && options.policy_count > 1) {
      // A publisher refuses to keep more frames than its ring has.
      options.policy_count /= 2;
    } else {
      return result;
    }
  }
}

static void run_session(Receiver *self, const Names *names, framebus_stop *stop) {
  framebus_group *group = NULL;
  framebus_subscriber *subscriber = NULL;
  framebus_error error = FRAMEBUS_ERROR_INIT;
  if (plugin_open_group(names->group, names->root, &group, &error) != FRAMEBUS_OK) {
    say_error(self, names, &error);
    return;
  }
  int result = attach(self, group, names, stop, &subscriber, &error);
  framebus_group_close(group);
  if (result == FRAMEBUS_OK) {
    receive(self, subscriber, names, stop);
    framebus_subscriber_close(subscriber);
    clear_picture(self);
  } else if (result != FRAMEBUS_STOPPED) {
    say_error(self, names, &error);
  }
}

static struct timespec moment_after(uint64_t nanoseconds) {
  uint64_t moment = framebus_after_ns(nanoseconds);
  return (struct timespec){.tv_sec = (time_t)(moment / 1000000000),
                           .tv_nsec = (long)(moment % 1000000000)};
}

static void *run(void *data) {
  Receiver *self = data;
  os_set_thread_name("framebus receiver");
  pthread_mutex_lock(&self->lock);
  while (!self->is_ending) {
    if (!self->is_wanted || *self->names.stream == 0) {
      self->state[0] = 0;
      pthread_cond_wait(&self->changed, &self->lock);
      continue;
    }
    Names names = {bstrdup(self->names.stream), bstrdup(self->names.group),
                   bstrdup(self->names.root)};
    uint64_t version = self->version;
    framebus_error error = FRAMEBUS_ERROR_INIT;
    bool can_stop = framebus_stop_open(&self->stop, &error) == FRAMEBUS_OK;
    framebus_stop *stop = self->stop;
    pthread_mutex_unlock(&self->lock);
    if (can_stop) {
      run_session(self, &names, stop);
    } else {
      say_error(self, &names, &error);
    }
    names_free(&names);
    pthread_mutex_lock(&self->lock);
    self->stop = NULL;
    if (can_stop) framebus_stop_close(stop);
    struct timespec next = moment_after(retry_ns);
    while (version == self->version && !self->is_ending) {
      if (pthread_cond_timedwait(&self->changed, &self->lock, &next) != 0) break;
    }
  }
  pthread_mutex_unlock(&self->lock);
  return NULL;
}

// ---- Start and end ----

static void receiver_free(Receiver *self) {
  names_free(&self->names);
  bfree(self->opaque);
  pthread_cond_destroy(&self->changed);
  pthread_mutex_destroy(&self->lock);
  bfree(self);
}

Receiver *receiver_start(obs_source_t *source, ReceiverKind kind) {
  Receiver *self = bzalloc(sizeof *self);
  pthread_condattr_t monotonic;
  self->source = source;
  self->kind = kind;
  self->names = (Names){bstrdup(""), bstrdup(""), bstrdup("")};
  pthread_mutex_init(&self->lock, NULL);
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&self->changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
  if (pthread_create(&self->thread, NULL, run, self) == 0) return self;
  receiver_free(self);
  return NULL;
}

void receiver_end(Receiver *self) {
  if (self == NULL) return;
  pthread_mutex_lock(&self->lock);
  self->is_ending = true;
  announce(self);
  pthread_mutex_unlock(&self->lock);
  pthread_join(self->thread, NULL);
  receiver_free(self);
}
