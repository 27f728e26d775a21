// A WebRTC connection: the element webrtcbin at the end of an upload pipeline. Its promises are
// awaited, and its signals become events.
//
// Nothing here knows WHIP: descriptions go in and out as text. Calls on one peer come from one
// thread at a time; events come from webrtcbin's own threads.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CUploadPipeline.h"

typedef enum {
  /// The format of every stream is known: an offer can be made.
  WEBRTC_READY,
  /// A local candidate, and the index of its media section.
  WEBRTC_CANDIDATE,
  /// All candidates are gathered.
  WEBRTC_GATHERED,
  WEBRTC_CONNECTED,
  /// The peer does not answer; it may come back.
  WEBRTC_DISCONNECTED,
  WEBRTC_FAILED,
  /// The peer has ended the connection.
  WEBRTC_CLOSED,
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
/// A packet leaves with a transport-wide sequence number.
typedef void (*webrtc_sent_handler)(void *context, uint16_t number, size_t count);

typedef struct webrtc_peer webrtc_peer;

/// A peer's certificate, made for one connection: ECDSA on P-256, which every WebRTC peer must
/// support (RFC 8827, section 6.5). webrtcbin 1.22 makes RSA certificates, which some peers do not
/// support.
struct webrtc_identity {
  /// Key and certificate.
  char pem[2048];
  /// SHA-256, in the format of `a=fingerprint`.
  char fingerprint[96];
};
bool webrtc_identity_make(struct webrtc_identity *identity);
/// Whether a certificate (PEM) has a fingerprint, written as in `a=fingerprint` (RFC 8122).
bool webrtc_certificate_has(const char *pem, const char *fingerprint);

/// Attaches to webrtcbin, the last element of the pipeline. NULL: the last element is another one,
/// or an identity cannot be made.
webrtc_peer *webrtc_peer_create(upload_pipeline *pipeline, webrtc_event_handler handler,
                                void *context);
/// Passes each RTCP packet of the peer, decrypted, to the handler. webrtcbin's statistics keep one
/// block of each report, and lose it while that block's stream pauses, as retransmission does. Call
/// this before the pipeline plays. The bytes are valid during the handler's call. Numbered packets
/// go to the other handler.
void webrtc_peer_watch_rtcp(webrtc_peer *peer, webrtc_rtcp_handler handler,
                            webrtc_sent_handler sentHandler, void *context);
/// Gives each packet of pictures a transport-wide sequence number, in a header extension with this
/// identifier, 1 to 14 (draft-holmer-rmcat-transport-wide-cc-extensions-01).
void webrtc_peer_number_packets(webrtc_peer *peer, unsigned extension);
/// Spreads the packets of pictures over time, so that one large picture does not fill a queue on
/// the way. 0, as at first: sends each picture at once.
void webrtc_peer_set_pace(webrtc_peer *peer, uint64_t bitsPerSecond);
/// Sends no retransmissions until this time of the monotonic clock, in nanoseconds.
/// - restarts: whether the pictures then begin anew with a key frame. Up to it, pictures are
///   dropped before they become packets; what was sent before is given up, and each of its packets
///   that the peer requests is sent again without content, so that the peer waits for none. Has no
///   effect on an encoder of several layers.
void webrtc_peer_pause(webrtc_peer *peer, uint64_t untilNs, bool restarts);
/// Sends the first retransmission of each packet twice, where the bounds leave room for that.
void webrtc_peer_repeat_twice(webrtc_peer *peer, bool repeatsTwice);
/// The shortest time from the sending of a packet to the first request for it, since the last call,
/// in nanoseconds; 0 without a request.
uint64_t webrtc_peer_take_request_delay(webrtc_peer *peer);
/// The packets sent again so far, and their bytes.
uint64_t webrtc_peer_repeated_count(webrtc_peer *peer);
uint64_t webrtc_peer_repeated_bytes(webrtc_peer *peer);
/// The fingerprint for the offer, which replaces the one that webrtcbin wrote.
const char *webrtc_peer_fingerprint(webrtc_peer *peer);
/// Adds an address for candidates. Once one is added, the machine's other addresses are not used.
bool webrtc_peer_add_local_address(webrtc_peer *peer, const char *address);
/// Adds every address of this machine, loopback ones as well, which libnice leaves out by default.
/// Returns how many were added.
unsigned webrtc_peer_add_all_addresses(webrtc_peer *peer);
/// Sets the STUN server's IPv4 or IPv6 address. Call this before the local description is set. It
/// configures libnice, because webrtcbin 1.22 ignores a server that is set after the offer.
bool webrtc_peer_set_stun_server(webrtc_peer *peer, const char *address, unsigned port);
/// Adds a relay: `turn[s]://USER:PASSWORD@HOST:PORT[?transport=udp|tcp]`. Call this before the
/// local description is set.
bool webrtc_peer_add_turn_server(webrtc_peer *peer, const char *address);

/// Adds an Opus track. Call this before the pipeline plays. False: the reason is in `message`.
/// - isEncoded: whether `webrtc_peer_push_encoded` brings the sound.
bool webrtc_peer_add_sound(webrtc_peer *peer, bool isEncoded, char *message, size_t capacity);
/// Sends a packet of Opus, a `GstSample`, which the caller still owns; never blocks.
bool webrtc_peer_push_encoded(webrtc_peer *peer, void *sample, uint64_t ptsNs);
/// Sends sound: interleaved stereo floats at 48,000 Hz. Copies the samples; never blocks.
void webrtc_peer_push_sound(webrtc_peer *peer, const float *samples, size_t count,
                            uint64_t ptsNs, uint64_t durationNs);

/// Makes a send-only offer, with retransmission of video. Free it with `webrtc_text_free`.
/// NULL: the reason is in `message`.
char *webrtc_peer_make_offer(webrtc_peer *peer, char *message, size_t capacity);
void webrtc_text_free(char *text);
/// Sets the local description and begins to gather candidates. False: the reason is in `message`.
bool webrtc_peer_set_offer(webrtc_peer *peer, const char *sdp, char *message, size_t capacity);
bool webrtc_peer_set_answer(webrtc_peer *peer, const char *sdp, char *message, size_t capacity);

/// Attaches to the webrtcbin with a name in a `GstPipeline` that does not run yet, and makes it ask
/// for pictures, and for sound. `webrtc_peer_make_offer` then makes an offer to receive them. NULL:
/// there is no such element, or an identity cannot be made.
webrtc_peer *webrtc_peer_receive(void *pipeline, const char *name, bool hearsSound,
                                 webrtc_event_handler handler, void *context);

/// Frees the peer. Destroy the pipeline first, because its threads raise the events.
void webrtc_peer_destroy(webrtc_peer *peer);

#include "CWebRTCViewer.h"
