// A client of a Wayland compositor that has its outputs and windows written into memory of the
// caller (ext-image-copy-capture-v1, else wlr-screencopy-unstable-v1). libwayland-client makes its
// callbacks in C.
//
// Nothing here decides what is captured or how long to wait: each wait has a deadline. Every value
// that the compositor sends is as it sent it; texts are cut to their fields.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct wayland_client wayland_client;
typedef struct wayland_pool wayland_pool;
typedef struct wayland_buffer wayland_buffer;

enum {
  WAYLAND_MAXIMUM_OUTPUTS = 32,
  WAYLAND_MAXIMUM_WINDOWS = 256,
  WAYLAND_MAXIMUM_DAMAGE = 16,
};

struct wayland_output {
  /// The number of its global, which no other output has before the connection ends.
  uint32_t id;
  /// UTF-8 as far as the compositor keeps to the protocol; empty if it has none.
  char name[64];
  char description[128];
  /// In the compositor's coordinates.
  int32_t x, y;
  /// Of its mode, in pixels: before it is turned.
  int32_t width, height;
  /// As windows see it, turned and scaled; 0 if the compositor does not tell.
  int32_t logicalWidth, logicalHeight;
  int32_t refreshMilliHz;
  /// `wl_output.transform`, 0…7.
  int32_t transform;
  /// Rounded up.
  int32_t scale;
};

/// A window of a program. Texts are UTF-8 as far as the compositor keeps to the protocol.
struct wayland_window {
  /// Its number in this connection, which no other window has.
  uint32_t number;
  /// The compositor's identifier, printable ASCII; no other window ever has it.
  char id[40];
  char title[256];
  char program[128];
};

typedef enum {
  WAYLAND_NONE,
  /// The compositor was asked for a frame's layout.
  WAYLAND_ASKED,
  /// The layout is known.
  WAYLAND_OFFERED,
  /// The compositor may write into the buffer at any moment.
  WAYLAND_COPYING,
  WAYLAND_READY,
  WAYLAND_FAILED,
} wayland_stage;

struct wayland_area {
  uint32_t x, y, width, height;
};

/// What is captured, and how.
struct wayland_target {
  /// The `id` of an output, or the `number` of a window.
  uint32_t id;
  bool isWindow;
  bool drawsCursor;
  /// In the output's logical coordinates; all of it if this is empty.
  struct wayland_area area;
};

/// The frame that is being made; there is one at a time.
struct wayland_frame {
  wayland_stage stage;
  /// `wl_shm.format`.
  uint32_t format;
  uint32_t width, height, stride;
  /// The first row in memory is the lowest.
  bool isInverted;
  /// `wl_output.transform` of the picture in memory, if the compositor says it with each frame; -1
  /// if it is the output's.
  int32_t transform;
  /// Changed since the last frame; with more areas than fit, all may have.
  uint32_t damageCount;
  struct wayland_area damage[WAYLAND_MAXIMUM_DAMAGE];
  bool hasMoreDamage;
  /// By the compositor's clock, which is CLOCK_MONOTONIC as a rule.
  uint64_t presentedNs;
};

/// - Parameter socket: connected to a compositor, owned by the client from here on, also when this
///   fails.
/// - Returns: NULL without memory.
wayland_client *wayland_client_create(int socket);
void wayland_client_destroy(wayland_client *client);

/// Shuts the connection down; every wait then ends. Any thread may call it.
void wayland_client_cut(wayland_client *client);

/// Handles what has arrived, or waits for it.
/// - Parameter stop: a descriptor that ends the wait when it is readable; -1 for none.
/// - Returns: 1 if something may have been handled; 0 after the deadline (CLOCK_MONOTONIC) or a
///   stop; -1 if the connection is broken.
int wayland_client_wait(wayland_client *client, int stop, uint64_t deadlineNs);

/// Has the compositor answer once it has handled all requests until now.
/// - Returns: whether it could be asked. ``wayland_client_isSynchronized`` tells the answer.
bool wayland_client_synchronize(wayland_client *client);
bool wayland_client_isSynchronized(const wayland_client *client);

/// Writes why the connection broke, as text for people; empty for a plain end.
void wayland_client_failure(wayland_client *client, char *text, size_t count);

/// A protocol that the compositor lacks to capture a target; NULL if none. Valid after the second
/// answer to ``wayland_client_synchronize``.
const char *wayland_client_missing(
  const wayland_client *client, const struct wayland_target *target);

/// - Returns: how many outputs there are.
uint32_t wayland_client_outputs(
  const wayland_client *client, struct wayland_output outputs[WAYLAND_MAXIMUM_OUTPUTS]);

/// How often an output has changed, or gone.
uint32_t wayland_client_changes(const wayland_client *client);

/// Whether the compositor lists windows. Valid after the second answer to
/// ``wayland_client_synchronize``.
bool wayland_client_listsWindows(const wayland_client *client);

/// - Returns: how many windows there are.
uint32_t wayland_client_windows(
  const wayland_client *client, struct wayland_window windows[WAYLAND_MAXIMUM_WINDOWS]);

bool wayland_client_hasWindow(const wayland_client *client, uint32_t number);

/// Asks for the layout of a frame. Ends the frame before it.
/// - Returns: false if the output or window is gone.
bool wayland_frame_begin(wayland_client *client, const struct wayland_target *target);

/// Whether the compositor waits for a change before it writes the next frame, whatever it is asked:
/// `wayland_client_rest` ends that.
bool wayland_client_waitsForDamage(const wayland_client *client);

/// Asks for the frame's pixels: at the next refresh, or at the next that changes something.
void wayland_frame_copy(wayland_client *client, wayland_buffer *buffer, bool waitsForDamage);

/// Ends the frame. The compositor may write into the buffer until it has handled this.
void wayland_frame_end(wayland_client *client);

/// Ends the frame, and whatever the compositor does for the frames to come.
void wayland_client_rest(wayland_client *client);

const struct wayland_frame *wayland_client_frame(const wayland_client *client);

/// Lets the compositor map memory, and waits until it has. Any thread may call it.
/// - Parameter descriptor: stays the caller's.
/// - Returns: NULL if the connection broke, or the deadline passed.
wayland_pool *wayland_pool_create(
  wayland_client *client, int descriptor, int32_t bytes, int stop, uint64_t deadlineNs);
/// The buffers are destroyed before it.
void wayland_pool_destroy(wayland_pool *pool);

/// - Returns: NULL without memory. The layout lies in the pool, or the connection breaks.
wayland_buffer *wayland_buffer_create(
  wayland_pool *pool, int32_t offset, int32_t width, int32_t height, int32_t stride,
  uint32_t format);
void wayland_buffer_destroy(wayland_buffer *buffer);
