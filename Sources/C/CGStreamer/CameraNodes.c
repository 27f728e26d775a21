#include "CCameraNodes.h"

#if __has_include(<gst/gst.h>)
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct fb_camera_nodes {
  GList *devices, *next;
  GstStructure *properties;
  GstCaps *caps;
};

// Connects to the user's server, as pipewire(1) says. -1 if that fails.
static int connect_to_server(void) {
  const char *name = g_getenv("PIPEWIRE_REMOTE");
  const char *folder = g_getenv("PIPEWIRE_RUNTIME_DIR");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (name == NULL) name = "pipewire-0";
  if (folder == NULL) folder = g_get_user_runtime_dir();
  gchar *path = name[0] == '/' ? g_strdup(name) : g_build_filename(folder, name, NULL);
  gsize byteCount = g_strlcpy(address.sun_path, path, sizeof address.sun_path);
  g_free(path);
  if (byteCount >= sizeof address.sun_path) return -1;
  int number = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (number >= 0 && connect(number, (struct sockaddr *)&address, sizeof address) != 0) {
    close(number);
    return -1;
  }
  return number;
}

// On a connection of its own: all of GStreamer's elements share one, on which the provider leaves
// its listener behind (PipeWire 0.3.65), and so corrupts memory. And without starting it, because
// it stops without its lock.
struct fb_camera_nodes *fb_camera_nodes_new(void) {
  GstDeviceProvider *provider =
      gst_device_provider_factory_get_by_name("pipewiredeviceprovider");
  if (provider == NULL) return NULL;
  // GStreamer has one provider for all callers.
  static GMutex lock;
  g_mutex_lock(&lock);
  int connection = connect_to_server();
  g_object_set(provider, "fd", connection, NULL);
  struct fb_camera_nodes *nodes = g_new0(struct fb_camera_nodes, 1);
  nodes->devices = nodes->next = gst_device_provider_get_devices(provider);
  g_mutex_unlock(&lock);
  gst_object_unref(provider);
  if (connection >= 0) close(connection);
  return nodes;
}

static void clear(struct fb_camera_nodes *nodes) {
  if (nodes->properties != NULL) gst_structure_free(nodes->properties);
  if (nodes->caps != NULL) gst_caps_unref(nodes->caps);
  nodes->properties = NULL;
  nodes->caps = NULL;
}

void fb_camera_nodes_free(struct fb_camera_nodes *nodes) {
  clear(nodes);
  g_list_free_full(nodes->devices, gst_object_unref);
  g_free(nodes);
}

const char *fb_camera_nodes_text(const struct fb_camera_nodes *nodes, const char *property) {
  return gst_structure_get_string(nodes->properties, property);
}

// A screen that is shared by the portal has the same class, and another role.
static bool is_camera(const struct fb_camera_nodes *nodes) {
  const char *class = fb_camera_nodes_text(nodes, "media.class");
  const char *role = fb_camera_nodes_text(nodes, "media.role");
  return class != NULL && strcmp(class, "Video/Source") == 0 && role != NULL &&
         strcmp(role, "Camera") == 0;
}

bool fb_camera_nodes_next(struct fb_camera_nodes *nodes) {
  while (nodes->next != NULL) {
    GstDevice *device = nodes->next->data;
    nodes->next = nodes->next->next;
    clear(nodes);
    nodes->properties = gst_device_get_properties(device);
    nodes->caps = gst_device_get_caps(device);
    if (nodes->properties != NULL && is_camera(nodes)) return true;
  }
  return false;
}

static void read_numbers(const GValue *value, int32_t *least, int32_t *most) {
  if (value == NULL) return;
  if (G_VALUE_HOLDS_INT(value)) {
    *least = *most = g_value_get_int(value);
  } else if (GST_VALUE_HOLDS_INT_RANGE(value)) {
    *least = gst_value_get_int_range_min(value);
    *most = gst_value_get_int_range_max(value);
  }
}

static void read_rate(const GValue *value, int32_t rate[2]) {
  if (value == NULL || !GST_VALUE_HOLDS_FRACTION(value)) return;
  rate[0] = gst_value_get_fraction_numerator(value);
  rate[1] = gst_value_get_fraction_denominator(value);
}

static void read_rates(const GValue *value, struct fb_node_mode *mode) {
  if (value == NULL) return;
  const GValue *least = value, *most = value;
  if (GST_VALUE_HOLDS_FRACTION_RANGE(value)) {
    least = gst_value_get_fraction_range_min(value);
    most = gst_value_get_fraction_range_max(value);
  } else if (GST_VALUE_HOLDS_LIST(value) && gst_value_list_get_size(value) > 0) {
    least = most = gst_value_list_get_value(value, 0);
    for (guint i = 1; i < gst_value_list_get_size(value); i++) {
      const GValue *rate = gst_value_list_get_value(value, i);
      if (gst_value_compare(rate, least) == GST_VALUE_LESS_THAN) least = rate;
      if (gst_value_compare(rate, most) == GST_VALUE_GREATER_THAN) most = rate;
    }
  }
  read_rate(least, mode->rate);
  read_rate(most, mode->maximumRate);
}

// The format with an index among those of one structure; NULL behind the last one.
static const char *format_at(const GstStructure *structure, guint index) {
  const GValue *value = gst_structure_get_value(structure, "format");
  if (value != NULL && GST_VALUE_HOLDS_LIST(value)) {
    if (index >= gst_value_list_get_size(value)) return NULL;
    value = gst_value_list_get_value(value, index);
  } else if (index > 0) {
    return NULL;
  }
  return value != NULL && G_VALUE_HOLDS_STRING(value) ? g_value_get_string(value) : NULL;
}

bool fb_camera_nodes_mode(const struct fb_camera_nodes *nodes, uint32_t index,
                          struct fb_node_mode *mode) {
  guint count = nodes->caps != NULL ? gst_caps_get_size(nodes->caps) : 0;
  for (guint i = 0; i < count; i++) {
    const GstStructure *structure = gst_caps_get_structure(nodes->caps, i);
    if (!gst_structure_has_name(structure, "video/x-raw")) continue;
    const char *format;
    for (guint j = 0; (format = format_at(structure, j)) != NULL; j++) {
      if (index-- > 0) continue;
      *mode = (struct fb_node_mode){.width = 0};
      g_strlcpy(mode->format, format, sizeof mode->format);
      read_numbers(gst_structure_get_value(structure, "width"), &mode->width,
                   &mode->maximumWidth);
      read_numbers(gst_structure_get_value(structure, "height"), &mode->height,
                   &mode->maximumHeight);
      read_rates(gst_structure_get_value(structure, "framerate"), mode);
      return true;
    }
  }
  return false;
}
#endif
