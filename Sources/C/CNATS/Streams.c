#include "CNATS.h"

#ifdef FRAMEBUS_MEDIA
#include "Link.h"

#include <stdio.h>
#include <string.h>

static int say_stream(char *message, natsStatus status, jsErrCode code, const char *name) {
  bool has_none = status == NATS_NO_RESPONDERS || code == JSNotEnabledErr ||
                  code == JSNotEnabledForAccountErr;
  if (has_none) {
    snprintf(
        message, FB_NATS_MESSAGE_BYTES,
        "the server has no JetStream for this user: enable it in the server's configuration");
  } else {
    fb_nats_say(message, status, name);
  }
  return 1;
}

int fb_nats_stream_made(fb_nats *link, const char *stream, uint64_t *made_ns, char *message) {
  jsStreamInfo *info = NULL;
  jsErrCode code = 0;
  natsStatus status = js_GetStreamInfo(&info, link->js, stream, NULL, &code);
  if (status != NATS_OK) return say_stream(message, status, code, stream);
  *made_ns = (uint64_t)info->Created;
  jsStreamInfo_Destroy(info);
  return 0;
}

enum { REPLICAS = 3 };

static bool lacks_replicas(const jsStreamInfo *info) {
  const jsClusterInfo *cluster = info->Cluster;
  bool is_in_cluster = cluster != NULL && cluster->Name != NULL && cluster->Name[0] != 0;
  // A server that lies says nothing of the configuration.
  return is_in_cluster && info->Config != NULL && info->Config->Replicas < REPLICAS;
}

// A cluster that has fewer servers refuses it.
static bool add_replicas(fb_nats *link, jsStreamInfo *info) {
  info->Config->Replicas = REPLICAS;
  return js_UpdateStream(NULL, link->js, info->Config, NULL, NULL) == NATS_OK;
}

int fb_nats_make_stream(
    fb_nats *link, const struct fb_nats_stream *wanted, struct fb_nats_stream_state *state,
    char *message) {
  jsStreamInfo *info = NULL;
  jsErrCode code = 0;
  natsStatus status = js_GetStreamInfo(&info, link->js, wanted->name, NULL, &code);
  if (status == NATS_NOT_FOUND || code == JSStreamNotFoundErr) {
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    config.Name = wanted->name;
    config.Subjects = (const char *[]){wanted->subjects};
    config.SubjectsLen = 1;
    config.Storage = wanted->in_memory ? js_MemoryStorage : js_FileStorage;
    config.MaxMsgsPerSubject = wanted->most_per_subject;
    config.MaxBytes = wanted->most_bytes;
    config.MaxAge = wanted->most_age_ns;
    config.Duplicates = wanted->duplicates_ns;
    if (wanted->is_bucket) {
      config.AllowRollup = config.DenyDelete = config.AllowDirect = true;
      config.Discard = js_DiscardNew;
    }
    // A server by itself refuses three; so does a cluster of two.
    for (int replicas = REPLICAS; replicas >= 1; replicas -= 2) {
      config.Replicas = replicas;
      code = 0;
      status = js_AddStream(&info, link->js, &config, NULL, &code);
      if (status == NATS_OK || code == JSStreamNameExistErr) break;
      if (status == NATS_TIMEOUT || status == NATS_CONNECTION_DISCONNECTED) break;
    }
    if (code == JSStreamNameExistErr) {
      status = js_GetStreamInfo(&info, link->js, wanted->name, NULL, &code);
    }
  }
  if (status != NATS_OK) return say_stream(message, status, code, wanted->name);
  state->made_ns = (uint64_t)info->Created;
  state->lacks_replicas = lacks_replicas(info) && !add_replicas(link, info);
  jsStreamInfo_Destroy(info);
  return 0;
}

int fb_nats_store(
    fb_nats *link, const char *stream, const char *subject, const uint8_t *bytes, size_t count,
    const char *id, int64_t expected, uint64_t *sequence, char *message) {
  jsPubOptions options;
  jsPubOptions_Init(&options);
  options.MaxWait = FB_NATS_WAIT_MS;
  options.MsgId = id;
  options.ExpectStream = stream;
  if (expected > 0) options.ExpectLastSubjectSeq = (uint64_t)expected;
  options.ExpectNoMessage = expected == 0;
  jsPubAck *acknowledgement = NULL;
  jsErrCode code = 0;
  natsStatus status =
      js_Publish(&acknowledgement, link->js, subject, bytes, (int)count, &options, &code);
  if (status == NATS_OK) {
    *sequence = acknowledgement->Sequence;
    jsPubAck_Destroy(acknowledgement);
    return FB_NATS_STORED;
  }
  fb_nats_say(message, status, "the server did not store a message");
  return code == JSStreamWrongLastSequenceErr ? FB_NATS_OTHER_REVISION : FB_NATS_NOT_STORED;
}

int fb_nats_newest(
    fb_nats *link, const char *stream, const char *subject, struct fb_nats_message *message,
    char *message_text) {
  natsMsg *found = NULL;
  jsErrCode code = 0;
  natsStatus status = js_GetLastMsg(&found, link->js, stream, subject, NULL, &code);
  if (status == NATS_NOT_FOUND || code == JSNoMessageFoundErr) {
    return 0;
  }
  if (status != NATS_OK) {
    fb_nats_say(message_text, status, "the server did not return a message");
    return -1;
  }
  fb_nats_fill(message, found);
  message->sequence = natsMsg_GetSequence(found);
  message->server_ns = (uint64_t)natsMsg_GetTime(found);
  return 1;
}

fb_nats_listener *fb_nats_follow(
    fb_nats *link, const char *stream, const char *subject, struct fb_nats_start start,
    uint64_t *pending, char *message) {
  jsSubOptions options;
  jsSubOptions_Init(&options);
  options.Stream = stream;
  options.Ordered = true;
  if (start.newest_only) {
    options.Config.DeliverPolicy = js_DeliverLastPerSubject;
  } else if (start.sequence > 0) {
    options.Config.DeliverPolicy = js_DeliverByStartSequence;
    options.Config.OptStartSeq = start.sequence;
  } else if (start.since_ns > 0) {
    options.Config.DeliverPolicy = js_DeliverByStartTime;
    options.Config.OptStartTime = (int64_t)start.since_ns;
  }
  natsSubscription *subscription = NULL;
  jsErrCode code = 0;
  natsStatus status =
      js_SubscribeSync(&subscription, link->js, subject, NULL, &options, &code);
  if (status == NATS_OK) {
    // A server that keeps to flow control never sends as much ahead.
    natsSubscription_SetPendingLimits(subscription, 65536, 64 << 20);
    jsConsumerInfo *info = NULL;
    status = natsSubscription_GetConsumerInfo(&info, subscription, NULL, &code);
    if (status == NATS_OK) {
      *pending = info->NumPending + info->Delivered.Consumer;
      jsConsumerInfo_Destroy(info);
      return fb_nats_listener_of(subscription, true);
    }
    natsSubscription_Destroy(subscription);
  }
  fb_nats_say(message, status, "cannot read the stream");
  return NULL;
}
#endif
