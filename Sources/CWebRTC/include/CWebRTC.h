// A WebRTC connection: the element webrtcbin at the end of an upload pipeline, its promises waited
// for and its signals turned into events.
//
// Nothing here knows WHIP: descriptions go in and out as text. Calls on one peer come from one
// thread at a time; events come from webrtcbin's own.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "CUploadPipeline.h"

typedef enum {
  /// Every stream has told its format: an offer can be made.
  WEBRTC_READY,
  /// A candidate of ours, and the index of the media section it belongs to.
  WEBRTC_CANDIDATE,
  /// There are no further candidates.
  WEBRTC_GATHERED,
  WEBRTC_CONNECTED,
  /// Nothing is heard of the peer; it may come back.
  WEBRTC_DISCONNECTED,
  WEBRTC_FAILED,
  /// The peer's certificate is not one that its description names: somebody else answers in its
  /// place. Nothing is sent to it.
  WEBRTC_IMPOSTOR,
} webrtc_event_kind;

/// The text is valid during the call.
struct webrtc_event {
  webrtc_event_kind kind;
  unsigned mediaIndex;
  const char *text;
};
typedef void (*webrtc_event_handler)(void *context, const struct webrtc_event *event);
typedef void (*webrtc_rtcp_handler)(void *context, const void *bytes, size_t count);

typedef struct webrtc_peer webrtc_peer;

/// A certificate that a peer shows, made for one connection: ECDSA on P-256, which every WebRTC
/// peer must know (RFC 8827, section 6.5). webrtcbin 1.22 itself makes one with RSA, which some do
/// not.
struct webrtc_identity {
  /// Key and certificate.
  char pem[2048];
  /// SHA-256, as `a=fingerprint` writes it.
  char fingerprint[96];
};
bool webrtc_identity_make(struct webrtc_identity *identity);
/// Whether a certificate (PEM) has a fingerprint, written as in `a=fingerprint` (RFC 8122).
bool webrtc_certificate_has(const char *pem, const char *fingerprint);

/// Watches the webrtcbin that was appended last to the pipeline. NULL: it is no webrtcbin, or there
/// is no identity for it.
webrtc_peer *webrtc_peer_create(upload_pipeline *pipeline, webrtc_event_handler handler,
                                void *context);
/// The handler gets each RTCP packet of the peer, decrypted: webrtcbin's statistics keep one block
/// of each report, and none when that one's stream has paused, as retransmission does. To be called
/// before the pipeline plays. The bytes are valid during the handler's call.
void webrtc_peer_hear_rtcp(webrtc_peer *peer, webrtc_rtcp_handler handler, void *context);
/// The fingerprint that the offer must name, whatever webrtcbin wrote there.
const char *webrtc_peer_fingerprint(webrtc_peer *peer);
/// Adds this one to the addresses of which candidates are made; the machine's others then count no
/// more.
bool webrtc_peer_add_local_address(webrtc_peer *peer, const char *address);
/// An address of IPv4 or IPv6, before the local description. webrtcbin 1.22 itself takes no notice
/// of one that is set once there is an offer.
bool webrtc_peer_set_stun_server(webrtc_peer *peer, const char *address, unsigned port);
/// `turn[s]://USER:PASSWORD@HOST:PORT[?transport=udp|tcp]`, before the local description.
bool webrtc_peer_add_turn_server(webrtc_peer *peer, const char *address);

/// Adds a track of sound in Opus, before the pipeline plays. False: the reason is in `message`.
bool webrtc_peer_add_sound(webrtc_peer *peer, char *message, size_t capacity);
/// Takes sound: floats of two channels in turns, 48,000 of each a second. Copies them; never waits.
void webrtc_peer_push_sound(webrtc_peer *peer, const float *samples, size_t count,
                            uint64_t ptsNs, uint64_t durationNs);

/// Makes an offer that only sends, with retransmission of video. Freed by `webrtc_text_free`.
/// NULL, with the reason in `message`, if it cannot be made.
char *webrtc_peer_make_offer(webrtc_peer *peer, char *message, size_t capacity);
void webrtc_text_free(char *text);
/// From here on candidates are gathered. False: the reason is in `message`.
bool webrtc_peer_set_offer(webrtc_peer *peer, const char *sdp, char *message, size_t capacity);
bool webrtc_peer_set_answer(webrtc_peer *peer, const char *sdp, char *message, size_t capacity);

/// Ends the watch. Only after the pipeline was destroyed, whose threads raise the events.
void webrtc_peer_destroy(webrtc_peer *peer);

#include "CWebRTCViewer.h"
