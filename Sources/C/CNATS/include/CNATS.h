// A connection to a NATS server, and the calls of JetStream that a bridge needs, over libnats.
// Swift cannot use libnats's callbacks, and without the package trait Media this header needs no
// library.
//
// Nothing here knows groups: subjects, streams and messages are the caller's. Every call that waits
// for the server has a timeout, and every message is bounded by its caller.
#pragma once
#include "CNATSGuard.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fb_nats fb_nats;
typedef struct fb_nats_listener fb_nats_listener;

/// How to connect. Texts are copied; the secrets are wiped when the connection is closed.
struct fb_nats_options {
  const char *host;
  int port;
  /// The client's name, for the server's operator.
  const char *name;
  /// A user with a password, or a public NKey with its seed, or a JWT with a seed, or a token
  /// alone; NULL for none.
  const char *user, *password;
  const char *public_key, *jwt, *seed;
  const char *token;
  /// Whether to require TLS. The server's certificate and its host name are always verified.
  bool is_secure;
  /// The name that the certificate must have instead of the host's, or NULL.
  const char *certificate_name;
  /// A file of certificates to trust instead of the system's, or NULL.
  const char *certificates;
  /// Whether to accept the addresses of a cluster's other servers.
  bool learns_servers;
  /// Whether the caller reads and writes (fb_nats_drive) instead of threads of libnats.
  bool is_driven;
  /// Written to (eventfd(2)) when a driven connection's descriptor changes, and at the end; or -1.
  int wake_descriptor;
};

enum { FB_NATS_MESSAGE_BYTES = 256 };

/// Why there is no connection.
enum fb_nats_failure {
  /// The server does not answer, or not now.
  FB_NATS_UNREACHABLE,
  /// The server refused the credential, or asks for one.
  FB_NATS_REFUSED,
  /// The server's certificate is not trusted, or is of another host.
  FB_NATS_UNTRUSTED,
  /// The server does not encrypt.
  FB_NATS_PLAIN,
  /// The options: a certificate file or a credential.
  FB_NATS_UNUSABLE,
};

/// Connects once, within some seconds.
/// - Returns: NULL on failure; `message` says why.
fb_nats *fb_nats_open(
    const struct fb_nats_options *options, enum fb_nats_failure *failure, char *message);
void fb_nats_close(fb_nats *link);
/// Once false, it stays false.
bool fb_nats_is_connected(fb_nats *link);
/// Why the connection ended; empty if unknown.
void fb_nats_last_error(fb_nats *link, char *message);
/// Takes a message of the server about a subject that it does not let this user use.
/// - Returns: false for none.
bool fb_nats_take_refusal(fb_nats *link, char *message);
/// The address of one of a cluster's servers, as HOST:PORT; false if there is none of this index.
bool fb_nats_learned_server(fb_nats *link, int index, char *address);

// A driven connection.

/// Waits until the socket or one of two descriptors is ready (poll(2)), and reads and writes what
/// the socket allows.
/// - Returns: 1 if `wake` is readable, otherwise 0; -1 on failure, with errno set.
int fb_nats_drive(fb_nats *link, int stop, int wake, int timeout_ms);

// Messages.

/// A received message, valid until fb_nats_message_free, which its listener must outlive.
struct fb_nats_message {
  void *handle;
  fb_nats_listener *listener;
  const char *subject;
  size_t subject_count;
  const uint8_t *bytes;
  size_t count;
  /// Of a stream: its sequence number, the server's time of storing it in nanoseconds since 1970,
  /// and the number of messages that follow.
  uint64_t sequence, server_ns, pending;
  /// Whether the server says that nothing handles the subject.
  bool is_unhandled;
};
void fb_nats_message_free(struct fb_nats_message *message);

/// Sends a message, at once if the connection is driven. `reply` may be NULL.
bool fb_nats_publish(
    fb_nats *link, const char *subject, const char *reply, const uint8_t *bytes, size_t count);

/// Receives messages of a subject. At most `most_messages` wait here, of `most_bytes` together.
fb_nats_listener *fb_nats_listen(
    fb_nats *link, const char *subject, int most_messages, int most_bytes);
/// Takes a message; 0 ms only polls.
/// - Returns: 1 for a message; 0 for none; -1 if messages were dropped, or the listener has ended.
int fb_nats_next(fb_nats_listener *listener, int64_t timeout_ms, struct fb_nats_message *message);
/// The number of messages that were dropped because too many waited.
int64_t fb_nats_dropped(fb_nats_listener *listener);
void fb_nats_listener_free(fb_nats_listener *listener);

// JetStream. Each call waits for the server, and may not be made on a driven connection.

struct fb_nats_stream {
  const char *name;
  const char *subjects;
  bool in_memory;
  int64_t most_per_subject;
  int64_t most_bytes;
  int64_t most_age_ns;
  int64_t duplicates_ns;
  /// Whether the stream is a bucket of the key-value store: `name` then begins with KV_.
  bool is_bucket;
};
/// What fb_nats_make_stream returns of a stream.
struct fb_nats_stream_state {
  /// When it was made, in nanoseconds since 1970 by the server's clock.
  uint64_t made_ns;
  /// Whether fewer than three servers of a cluster have it.
  bool lacks_replicas;
};
/// Opens a stream, and makes it if it is missing: on three servers of a cluster, or else on one. A
/// stream on fewer, as one that was made while the cluster formed, is given to three.
/// - Returns: 0, or an error.
int fb_nats_make_stream(
    fb_nats *link, const struct fb_nats_stream *stream, struct fb_nats_stream_state *state,
    char *message);

/// When a stream was made, in nanoseconds since 1970 by the server's clock.
/// - Returns: 0, or an error.
int fb_nats_stream_made(fb_nats *link, const char *stream, uint64_t *made_ns, char *message);

enum {
  FB_NATS_STORED = 0,
  FB_NATS_OTHER_REVISION = 1,
  FB_NATS_NOT_STORED = 2,
};
/// Stores a message in a stream.
/// - Parameters:
///   - id: by which the server recognizes a repetition, or NULL.
///   - expected: the sequence number of the subject's present message; 0 for none, -1 for any.
int fb_nats_store(
    fb_nats *link, const char *stream, const char *subject, const uint8_t *bytes, size_t count,
    const char *id, int64_t expected, uint64_t *sequence, char *message_text);

/// The newest message of a subject.
/// - Returns: 1 for a message; 0 for none; -1 on failure.
int fb_nats_newest(
    fb_nats *link, const char *stream, const char *subject, struct fb_nats_message *message,
    char *message_text);

/// Where to begin in a stream: all zero for its first message.
struct fb_nats_start {
  /// Only the newest message of each subject.
  bool newest_only;
  /// By the server's clock, in nanoseconds since 1970.
  uint64_t since_ns;
  /// A sequence number; comes before `since_ns`.
  uint64_t sequence;
};
/// Receives a stream's messages in order, until the connection ends.
fb_nats_listener *fb_nats_follow(
    fb_nats *link, const char *stream, const char *subject, struct fb_nats_start start,
    uint64_t *pending, char *message_text);
