// The desktop's portal for pictures of its screen (org.freedesktop.portal.ScreenCast on the
// session bus; xdg-desktop-portal's documentation), by libsystemd's sd-bus, which is loaded when
// it is first used.
//
// All calls of one `screencast` come from one thread. Nothing blocks longer than its deadline, and
// a raised stop descriptor ends every wait.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// The source types and cursor modes of the portal, as bits.
enum screencast_bits {
  SCREENCAST_MONITOR = 1,
  SCREENCAST_WINDOW = 2,
  SCREENCAST_VIRTUAL = 4,
  SCREENCAST_CURSOR_HIDDEN = 1,
  SCREENCAST_CURSOR_EMBEDDED = 2,
};

enum screencast_result {
  SCREENCAST_OK,
  SCREENCAST_STOPPED,
  /// libsystemd cannot be loaded.
  SCREENCAST_NO_LIBRARY,
  /// There is no session bus, or it does not answer.
  SCREENCAST_NO_BUS,
  /// Nobody offers the portal on the bus, or it has no ScreenCast interface.
  SCREENCAST_NO_PORTAL,
  /// The portal does not offer this type of source.
  SCREENCAST_UNSUPPORTED,
  /// The user closed the dialog.
  SCREENCAST_DECLINED,
  /// The portal ended the dialog or the session in another way.
  SCREENCAST_ENDED,
  /// A call was answered with an error.
  SCREENCAST_REFUSED,
  SCREENCAST_MALFORMED,
  /// A call was not answered in time.
  SCREENCAST_SILENT,
};

/// What the portal of this desktop offers.
struct screencast_offer {
  uint32_t version;
  uint32_t sourceTypes;
  uint32_t cursorModes;
};

enum { SCREENCAST_TOKEN_BYTES = 1024 };

struct screencast_request {
  uint32_t sourceType;
  uint32_t cursorMode;
  /// The token of an earlier session; NULL for none.
  const char *token;
  /// How long the portal may take to answer, and how long the user.
  uint64_t answerNs;
  uint64_t dialogNs;
};

/// What the user chose.
struct screencast_stream {
  uint32_t node;
  /// A connection to PipeWire that sees this node alone; the caller closes it.
  int descriptor;
  /// Of the next session; empty for none.
  char token[SCREENCAST_TOKEN_BYTES + 1];
};

/// What has become of a session.
enum screencast_news {
  SCREENCAST_NO_NEWS,
  /// The user or the desktop ended it.
  SCREENCAST_CLOSED,
  /// The portal, or the session bus, has ended.
  SCREENCAST_GONE,
};

struct screencast;

/// - Parameter stopDescriptor: readable once every wait shall end; it is not read.
/// - Returns: NULL without memory.
struct screencast *screencast_new(int stopDescriptor);

/// Connects and asks what the portal offers. Call it once, before anything else.
enum screencast_result screencast_connect(struct screencast *screencast, uint64_t answerNs,
                                          struct screencast_offer *offer);

/// Has the user choose a source, or restores an earlier choice.
enum screencast_result screencast_start(struct screencast *screencast,
                                        const struct screencast_request *request,
                                        struct screencast_stream *stream);

/// Readable when `screencast_process` may have news.
int screencast_descriptor(const struct screencast *screencast);

enum screencast_news screencast_process(struct screencast *screencast);

/// Why a call failed, as text of this or another program; empty if there is no more to say.
const char *screencast_failure(const struct screencast *screencast);

/// Closes the connection, with which the portal ends the session.
void screencast_free(struct screencast *screencast);
