#include <xcb/composite.h>
#include <xcb/damage.h>
#include <xcb/randr.h>
#include <xcb/screensaver.h>
#include <xcb/shm.h>
#include <xcb/xcb.h>
#include <xcb/xcbext.h>
#include <xcb/xfixes.h>

/// Asks what numbers the extensions have. libxcb otherwise asks at the first use of each, and then
/// waits for as long as the server likes.
static inline void framebus_xcb_prefetch_extensions(xcb_connection_t *connection) {
  xcb_prefetch_extension_data(connection, &xcb_composite_id);
  xcb_prefetch_extension_data(connection, &xcb_damage_id);
  xcb_prefetch_extension_data(connection, &xcb_randr_id);
  xcb_prefetch_extension_data(connection, &xcb_screensaver_id);
  xcb_prefetch_extension_data(connection, &xcb_shm_id);
  xcb_prefetch_extension_data(connection, &xcb_xfixes_id);
}
