// Preloaded into Debian 12's xdg-desktop-portal-wlr 0.7.0: it starts no screen cast unless the
// compositor offers DMA-BUF, and one with a software renderer offers none. So an event that offers
// it follows each one that offers shared memory. As it has no graphics card to allocate from, the
// portal's backend then gives PipeWire shared memory alone.
//
// cc -shared -fPIC -o offer_dmabuf.so offer_dmabuf.c -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

struct wl_proxy;
const char *wl_proxy_get_class(struct wl_proxy *proxy);

/// The events of zwlr_screencopy_frame_v1, in the protocol's order.
struct frame_events {
  void (*buffer)(void *user, struct wl_proxy *frame, uint32_t format, uint32_t width,
                 uint32_t height, uint32_t stride);
  void (*others[3])(void);
  void (*damage)(void);
  void (*linux_dmabuf)(void *user, struct wl_proxy *frame, uint32_t fourcc, uint32_t width,
                       uint32_t height);
  void (*buffer_done)(void);
};

static struct frame_events theirs, ours;

/// wl_shm has its own numbers for two of the DRM's formats.
static uint32_t fourcc_of(uint32_t format) {
  const uint32_t argb = 0x34325241, xrgb = 0x34325258;
  return format == 0 ? argb : format == 1 ? xrgb : format;
}

static void buffer(void *user, struct wl_proxy *frame, uint32_t format, uint32_t width,
                   uint32_t height, uint32_t stride) {
  theirs.buffer(user, frame, format, width, height, stride);
  theirs.linux_dmabuf(user, frame, fourcc_of(format), width, height);
}

int wl_proxy_add_listener(struct wl_proxy *proxy, void (**events)(void), void *user) {
  static int (*add)(struct wl_proxy *, void (**)(void), void *);
  if (add == NULL) *(void **)&add = dlsym(RTLD_NEXT, "wl_proxy_add_listener");
  if (!strcmp(wl_proxy_get_class(proxy), "zwlr_screencopy_frame_v1")) {
    memcpy(&theirs, events, sizeof theirs);
    ours = theirs;
    ours.buffer = buffer;
    events = (void (**)(void)) & ours;
  }
  return add(proxy, events, user);
}
