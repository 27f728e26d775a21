#pragma once
#define GST_USE_UNSTABLE_API
#include <gst/gst.h>
#include <gst/sdp/sdp.h>
#include <gst/webrtc/webrtc.h>
#include <stdatomic.h>

#include "CWebRTC.h"

/// What is known of the certificate that the peer showed. An impostor stays one.
typedef enum { WEBRTC_UNKNOWN, WEBRTC_TRUSTED, WEBRTC_UNTRUSTED } webrtc_trust;

enum {
  WEBRTC_SENT_COUNT = 1024,
  /// The payload type of an upload's sound.
  WEBRTC_SOUND_PAYLOAD = 111,
};

/// A media packet that was sent, and when it was last retransmitted.
struct webrtc_sent {
  uint32_t source;
  uint16_t number;
  uint8_t count;
  bool isRequested;
  size_t size;
  int64_t atUs, repeatedAtUs;
};

/// The bounds of what is sent.
struct webrtc_sending {
  /// Guards what follows up to the counts.
  GMutex lock;
  /// By the low bits of the sequence number.
  struct webrtc_sent sent[WEBRTC_SENT_COUNT];
  /// Until when nothing is sent again, and until when what was sent is given up; 0 at first.
  int64_t pausedUntilUs, givenUpUntilUs;
  /// Whether pictures are dropped up to a key frame, and when one was last requested for that.
  bool awaitsKeyFrame;
  int64_t awaitedAtUs;
  /// Whether pictures can be dropped before they become packets.
  bool hasGate;
  /// The shortest time from a packet to the first request for it, lately; 0 for none.
  int64_t requestDelayUs;
  /// Whether the first retransmission of a packet is sent twice.
  bool repeatsTwice;
  /// The bytes that retransmissions may use now.
  int64_t creditBytes;
  /// When time was last counted for them.
  int64_t creditAtUs;
  /// When a key frame was last requested, and a later request that waits; or 0 and NULL.
  int64_t keyAtUs;
  GstEvent *keyRequest;
  atomic_uint_least64_t repeatedCount, repeatedBytes;
  /// The identifier of the transport-wide sequence number; 0 while the peer did not agree to it.
  atomic_uint extension;
  atomic_uint_least16_t nextNumber;
  /// The pace of pictures in bytes a second, or 0 for none, and when the next packet is due.
  atomic_uint_least64_t paceBytes;
  int64_t dueUs;
};

struct webrtc_peer {
  /// webrtcbin.
  GstElement *element;
  /// The appsrc of sound, or NULL.
  GstElement *sound;
  struct webrtc_identity identity;
  /// The fingerprints that the peer's description names: set before there is anybody to connect to.
  GPtrArray *named;
  /// A `webrtc_trust`.
  atomic_int trust;
  /// The newest `GstDtlsConnectionState`.
  atomic_int dtlsState;
  webrtc_event_handler handler;
  void *context;
  /// Whether it takes media; others drop those that come unasked.
  bool receives;
  /// Receives the peer's RTCP packets, or NULL.
  webrtc_rtcp_handler rtcpHandler;
  /// Receives what is numbered, or NULL; with the same context.
  webrtc_sent_handler sentHandler;
  void *rtcpContext;
  struct webrtc_sending sending;
};

/// Bounds the requests that reach a `rtprtxsend`, for retransmissions and key frames, and numbers
/// the packets, which all pass it.
void webrtc_peer_bound_sending(webrtc_peer *peer, GstElement *repeater);
/// Spreads the packets that pass a pad of webrtcbin by `webrtc_peer_set_pace`.
void webrtc_peer_pace(webrtc_peer *peer, GstPad *pad);

/// Drops pictures before the payloader that sends to a pad of webrtcbin, where
/// `webrtc_peer_pause` asks for it.
void webrtc_peer_gate(webrtc_peer *peer, GstPad *pad);

/// Records the fingerprints that the peer's description contains.
void webrtc_peer_expect(webrtc_peer *peer, const GstSDPMessage *description);
/// Checks each certificate that the peer presents to a `dtlssrtpdec`, before keys are exported.
void webrtc_peer_check(webrtc_peer *peer, GstElement *decoder);
/// Drops all output of a `nicesink` except the handshake until the peer is trusted.
void webrtc_peer_guard(webrtc_peer *peer, GstElement *sink);
void webrtc_peer_report(webrtc_peer *peer, webrtc_event_kind kind, unsigned mediaIndex,
                      const char *text);
void webrtc_add_probe(GstElement *element, const char *name, GstPadProbeCallback probe,
                      void *context);

/// Attaches to a webrtcbin, and gives it an identity of its own. NULL: that cannot be made.
webrtc_peer *webrtc_peer_watch(GstElement *element, webrtc_event_handler handler, void *context);
/// Makes libnice notice a peer that no longer answers.
void webrtc_watch_for_silence(GstElement *element);
/// Makes an "offer" or "answer". Free it with `webrtc_text_free`. NULL: the reason is in `message`.
char *webrtc_peer_make(webrtc_peer *peer, const char *kind, char *message, size_t capacity);
/// Sets a description with the signal "set-local-description" or "set-remote-description".
bool webrtc_peer_describe(webrtc_peer *peer, const char *signal, GstWebRTCSDPType type,
                          const char *sdp, char *message, size_t capacity);

/// Whether an address, or NULL, is one of loopback.
bool webrtc_is_loopback(const char *address);
/// Whether `webrtc_close_to_others` can work with this libnice.
bool webrtc_can_close_to_others(void);
/// Drops what reaches the sockets of a `nicesrc` from other machines. False: a socket stays open.
bool webrtc_close_to_others(GstElement *receiver);
