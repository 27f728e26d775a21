#define _GNU_SOURCE
#include "CWebRTC.h"

#ifdef FRAMEBUS_MEDIA
#include <gst/rtp/gstrtpbuffer.h>
#include <string.h>

#include "WebRTCPeer.h"

// What webrtcbin 1.22 sends, and does not bound: it answers each request for a retransmission, as
// often as it comes, so that a link that drops packets because it is full gets more of them.

enum {
  RTP_HEADER = 12,
  /// Of one-byte header extensions, with the number of words that follow (RFC 8285, section 4.2).
  EXTENSION_HEADER = 4,
  EXTENSION_PROFILE = 0xBEDE,
  /// One of two bytes, and one byte of padding.
  NUMBER = 4,
  /// What is sent again of the last packet of a picture that is given up. A receiver that puts
  /// pictures together of nothing but empty packets passes its decoder the end of the stream, in
  /// libavcodec's terms (aiortc).
  GIVEN_UP_CONTENT = 8,
  /// Longer headers are not numbered.
  MAXIMUM_EXTENSION_WORDS = 32,
  /// A packet is retransmitted at most so often, and not after this time: a receiver has by then
  /// gone on, or asks for a key frame.
  MAXIMUM_COUNT = 6,
  MAXIMUM_AGE_US = 2500 * 1000,
  /// The first repetition of a retransmission waits so long, and each further one twice as long, up
  /// to four times: a queue that is full now has room once the bitrate has fallen.
  REPETITION_US = 100 * 1000,
  MAXIMUM_DOUBLINGS = 2,
  /// Each media packet allows the retransmission of a third of its size, and time that of a quarter
  /// of the pace, because little of a lower bitrate is media while much is missing. What is allowed
  /// adds up to this.
  CREDIT_SHARE = 3,
  PACE_SHARE = 4,
  MAXIMUM_CREDIT = 24 * 1024,
  /// A second retransmission leaves this to others.
  COPY_CREDIT = MAXIMUM_CREDIT / 2,
  USUAL_SIZE = 1200,
  /// In bytes a second.
  MAXIMUM_PACE = 1 << 30,
  /// The shortest time between requested key frames, because they are large.
  KEY_FRAME_US = 1000 * 1000,
};

/// Marks a request of our own.
#define COPY_FIELD "framebus-copy"

struct packet_head {
  /// Whether a number can be added: to a header without contributing sources, with none or
  /// one-byte extensions.
  bool canBeNumbered;
  bool hasExtensions;
  /// With its extensions.
  size_t headerSize;
  bool isSound;
  /// Whether it is the last one of its picture.
  bool isLast;
  uint16_t number;
  uint32_t source;
};

static struct packet_head head_of(GstBuffer *buffer) {
  guint8 bytes[RTP_HEADER + EXTENSION_HEADER] = {0};
  gsize count = gst_buffer_extract(buffer, 0, bytes, sizeof bytes);
  if (count < RTP_HEADER) return (struct packet_head){0};
  struct packet_head head = {.canBeNumbered = (bytes[0] & 0xCF) == 0x80,
                             .hasExtensions = (bytes[0] & 0x10) != 0,
                             .headerSize = RTP_HEADER,
                             .isSound = (bytes[1] & 0x7F) == WEBRTC_SOUND_PAYLOAD,
                             .isLast = (bytes[1] & 0x80) != 0,
                             .number = GST_READ_UINT16_BE(bytes + 2),
                             .source = GST_READ_UINT32_BE(bytes + 8)};
  if (!head.hasExtensions) return head;
  size_t words = GST_READ_UINT16_BE(bytes + RTP_HEADER + 2);
  head.headerSize += EXTENSION_HEADER + 4 * words;
  if (count < sizeof bytes || GST_READ_UINT16_BE(bytes + RTP_HEADER) != EXTENSION_PROFILE ||
      words > MAXIMUM_EXTENSION_WORDS || head.headerSize > gst_buffer_get_size(buffer))
    head.canBeNumbered = false;
  return head;
}

/// The packet with a transport-wide sequence number, behind its other extensions. Only the header
/// is copied.
static GstBuffer *numbered(GstBuffer *buffer, struct packet_head head, unsigned extension,
                           uint16_t number) {
  guint8 bytes[RTP_HEADER + EXTENSION_HEADER + 4 * MAXIMUM_EXTENSION_WORDS + NUMBER];
  gst_buffer_extract(buffer, 0, bytes, head.headerSize);
  size_t size = head.headerSize;
  if (!head.hasExtensions) {
    bytes[0] |= 0x10;
    GST_WRITE_UINT16_BE(bytes + RTP_HEADER, EXTENSION_PROFILE);
    GST_WRITE_UINT16_BE(bytes + RTP_HEADER + 2, 0);
    size += EXTENSION_HEADER;
  }
  guint16 words = GST_READ_UINT16_BE(bytes + RTP_HEADER + 2);
  GST_WRITE_UINT16_BE(bytes + RTP_HEADER + 2, words + 1);
  const guint8 added[NUMBER] = {(guint8)(extension << 4 | 1), (guint8)(number >> 8),
                                (guint8)number, 0};
  memcpy(bytes + size, added, sizeof added);
  GstBuffer *made = gst_buffer_new_memdup(bytes, size + sizeof added);
  gst_buffer_copy_into(made, buffer, GST_BUFFER_COPY_MEMORY, head.headerSize, SIZE_MAX);
  gst_buffer_copy_into(made, buffer, GST_BUFFER_COPY_METADATA, 0, SIZE_MAX);
  gst_buffer_unref(buffer);
  return made;
}

static void remember(struct webrtc_sending *sending, struct packet_head head, size_t size) {
  struct webrtc_sent *sent = &sending->sent[head.number % WEBRTC_SENT_COUNT];
  g_mutex_lock(&sending->lock);
  *sent = (struct webrtc_sent){
      .source = head.source, .number = head.number, .size = size, .atUs = g_get_monotonic_time()};
  sending->creditBytes =
      MIN(sending->creditBytes + (int64_t)size / CREDIT_SHARE, (int64_t)MAXIMUM_CREDIT);
  g_mutex_unlock(&sending->lock);
}

/// Passes on a key frame request that came too early, now that it is time.
static void repeat_key_request(webrtc_peer *peer, GstPad *pad) {
  struct webrtc_sending *sending = &peer->sending;
  GstEvent *request = NULL;
  g_mutex_lock(&sending->lock);
  int64_t nowUs = g_get_monotonic_time();
  if (sending->keyRequest != NULL && nowUs - sending->keyAtUs >= KEY_FRAME_US) {
    request = g_steal_pointer(&sending->keyRequest);
    sending->keyAtUs = nowUs;
  }
  g_mutex_unlock(&sending->lock);
  if (request == NULL) return;
  GstElement *repeater = gst_pad_get_parent_element(pad);
  GstPad *sink = gst_element_get_static_pad(repeater, "sink");
  gst_pad_push_event(sink, request);
  gst_object_unref(sink);
  gst_object_unref(repeater);
}

/// The packet that a retransmission repeats, whose number is before the content (RFC 4588, section
/// 4). NULL: it is no longer known. The lock is held.
static const struct webrtc_sent *repeated(const struct webrtc_sending *sending, GstBuffer *buffer,
                                          struct packet_head head) {
  guint8 bytes[2];
  if (gst_buffer_extract(buffer, head.headerSize, bytes, sizeof bytes) != sizeof bytes) return NULL;
  uint16_t number = GST_READ_UINT16_BE(bytes);
  const struct webrtc_sent *sent = &sending->sent[number % WEBRTC_SENT_COUNT];
  return sent->number == number && sent->size > 0 ? sent : NULL;
}

/// The retransmission without most of its content, if what it repeats is given up.
static GstBuffer *without_content(struct webrtc_sending *sending, GstBuffer *buffer,
                                  struct packet_head head) {
  g_mutex_lock(&sending->lock);
  const struct webrtc_sent *sent = repeated(sending, buffer, head);
  bool isGivenUp = sent != NULL && sent->atUs < sending->givenUpUntilUs;
  g_mutex_unlock(&sending->lock);
  if (!isGivenUp) return buffer;
  buffer = gst_buffer_make_writable(buffer);
  size_t size = head.headerSize + 2 + (head.isLast ? GIVEN_UP_CONTENT : 0);
  if (size < gst_buffer_get_size(buffer)) gst_buffer_resize(buffer, 0, (gssize)size);
  return buffer;
}

/// Counts a packet of pictures, and numbers it if the peer agreed to that.
static gboolean on_packet(GstBuffer **buffer, guint index, gpointer context) {
  (void)index;
  webrtc_peer *peer = context;
  struct webrtc_sending *sending = &peer->sending;
  size_t size = gst_buffer_get_size(*buffer);
  struct packet_head head = head_of(*buffer);
  if (head.isSound) return TRUE;
  if (GST_BUFFER_FLAG_IS_SET(*buffer, GST_RTP_BUFFER_FLAG_RETRANSMISSION)) {
    *buffer = without_content(sending, *buffer, head);
    size = gst_buffer_get_size(*buffer);
    atomic_fetch_add(&sending->repeatedBytes, size);
    atomic_fetch_add(&sending->repeatedCount, 1);
  } else {
    remember(sending, head, size);
  }
  unsigned extension = atomic_load(&sending->extension);
  if (extension == 0 || !head.canBeNumbered) return TRUE;
  uint16_t number = atomic_fetch_add(&sending->nextNumber, 1);
  *buffer = numbered(*buffer, head, extension, number);
  peer->sentHandler(peer->rtcpContext, number, size);
  return TRUE;
}

static GstPadProbeReturn on_packets(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
  repeat_key_request(context, pad);
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
    on_packet(&buffer, 0, context);
    GST_PAD_PROBE_INFO_DATA(info) = buffer;
    return GST_PAD_PROBE_OK;
  }
  GstBufferList *list = gst_buffer_list_make_writable(GST_PAD_PROBE_INFO_BUFFER_LIST(info));
  GST_PAD_PROBE_INFO_DATA(info) = list;
  gst_buffer_list_foreach(list, on_packet, context);
  return GST_PAD_PROBE_OK;
}

/// Whether a requested packet is sent again, and whether twice. A packet that is no longer known is
/// limited by the credit alone.
static bool allows(struct webrtc_sending *sending, uint32_t source, uint16_t number,
                   bool *isDoubled) {
  struct webrtc_sent *sent = &sending->sent[number % WEBRTC_SENT_COUNT];
  bool isKnown = sent->number == number && sent->source == source && sent->size > 0;
  int64_t nowUs = g_get_monotonic_time();
  int64_t size = isKnown ? (int64_t)sent->size : USUAL_SIZE;
  int64_t elapsedUs = MIN(nowUs - sending->creditAtUs, (int64_t)G_USEC_PER_SEC);
  int64_t paceBytes = (int64_t)MIN(atomic_load(&sending->paceBytes), (uint64_t)MAXIMUM_PACE);
  sending->creditBytes =
      MIN(sending->creditBytes + paceBytes / PACE_SHARE * elapsedUs / G_USEC_PER_SEC,
          (int64_t)MAXIMUM_CREDIT);
  sending->creditAtUs = nowUs;
  if (isKnown && !sent->isRequested) {
    sent->isRequested = true;
    int64_t delayUs = MAX(nowUs - sent->atUs, (int64_t)1);
    if (sending->requestDelayUs == 0 || delayUs < sending->requestDelayUs)
      sending->requestDelayUs = delayUs;
  }
  if (nowUs < sending->pausedUntilUs) return false;
  if (isKnown && sent->atUs < sending->givenUpUntilUs) size = RTP_HEADER;
  if (size > sending->creditBytes) return false;
  if (isKnown) {
    if (sent->count == MAXIMUM_COUNT || nowUs - sent->atUs > MAXIMUM_AGE_US) return false;
    int doublings = MIN(MAX(sent->count - 1, 0), MAXIMUM_DOUBLINGS);
    if (sent->count > 0 && nowUs - sent->repeatedAtUs < REPETITION_US << doublings) return false;
    sent->count++;
    sent->repeatedAtUs = nowUs;
  }
  sending->creditBytes -= size;
  *isDoubled = sending->repeatsTwice && isKnown && sent->count == 1 &&
               sending->creditBytes - size >= COPY_CREDIT;
  if (*isDoubled) sending->creditBytes -= size;
  return true;
}

/// Whether the time since the last key frame request allows another. One that comes too early is
/// kept for later, the last of several.
static bool allows_key_frame(struct webrtc_sending *sending, GstEvent *request) {
  int64_t nowUs = g_get_monotonic_time();
  if (sending->keyAtUs == 0 || nowUs - sending->keyAtUs >= KEY_FRAME_US) {
    gst_clear_event(&sending->keyRequest);
    sending->keyAtUs = nowUs;
    return true;
  }
  gst_event_replace(&sending->keyRequest, request);
  return false;
}

/// Requests a packet once more, past the bounds.
static void repeat_request(GstPad *pad, const GstStructure *request) {
  GstStructure *copy = gst_structure_copy(request);
  gst_structure_set(copy, COPY_FIELD, G_TYPE_BOOLEAN, TRUE, NULL);
  gst_pad_send_event(pad, gst_event_new_custom(GST_EVENT_CUSTOM_UPSTREAM, copy));
}

static GstPadProbeReturn on_request(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
  struct webrtc_sending *sending = &((webrtc_peer *)context)->sending;
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);
  const GstStructure *request = gst_event_get_structure(event);
  if (request == NULL || gst_structure_has_field(request, COPY_FIELD)) return GST_PAD_PROBE_OK;
  guint number = 0, source = 0;
  bool isAllowed = true, isDoubled = false;
  g_mutex_lock(&sending->lock);
  if (gst_structure_has_name(request, "GstForceKeyUnit"))
    isAllowed = allows_key_frame(sending, event);
  else if (gst_structure_has_name(request, "GstRTPRetransmissionRequest") &&
           gst_structure_get_uint(request, "seqnum", &number) &&
           gst_structure_get_uint(request, "ssrc", &source))
    isAllowed = allows(sending, source, (uint16_t)number, &isDoubled);
  g_mutex_unlock(&sending->lock);
  if (isDoubled) repeat_request(pad, request);
  return isAllowed ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
}

void webrtc_peer_bound_sending(webrtc_peer *peer, GstElement *repeater) {
  webrtc_add_probe(repeater, "src", on_packets, peer);
  GstPad *pad = gst_element_get_static_pad(repeater, "src");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, on_request, peer, NULL);
  gst_object_unref(pad);
}

uint64_t webrtc_peer_take_request_delay(webrtc_peer *peer) {
  g_mutex_lock(&peer->sending.lock);
  int64_t delayUs = peer->sending.requestDelayUs;
  peer->sending.requestDelayUs = 0;
  g_mutex_unlock(&peer->sending.lock);
  return (uint64_t)delayUs * 1000;
}

void webrtc_peer_repeat_twice(webrtc_peer *peer, bool repeatsTwice) {
  g_mutex_lock(&peer->sending.lock);
  peer->sending.repeatsTwice = repeatsTwice;
  g_mutex_unlock(&peer->sending.lock);
}

void webrtc_peer_number_packets(webrtc_peer *peer, unsigned extension) {
  if (peer->sentHandler != NULL) atomic_store(&peer->sending.extension, extension);
}

uint64_t webrtc_peer_repeated_count(webrtc_peer *peer) {
  return atomic_load(&peer->sending.repeatedCount);
}

uint64_t webrtc_peer_repeated_bytes(webrtc_peer *peer) {
  return atomic_load(&peer->sending.repeatedBytes);
}

#else
typedef int webrtc_sending_is_absent;
#endif
