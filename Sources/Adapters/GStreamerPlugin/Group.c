#include "Plugin.h"

int plugin_open_group(const gchar *id, const gchar *root, framebus_group **group,
                      framebus_error *error) {
  if (id == NULL) id = g_getenv("FRAMEBUS_GROUP");
  if (root == NULL) root = g_getenv("FRAMEBUS_HOME");
  gboolean has_id = id != NULL && *id != 0, has_root = root != NULL && *root != 0;
  return framebus_group_open(has_id ? id : NULL, has_root ? root : NULL, group, error);
}

static gint resource_error(const framebus_error *error) {
  switch (error->code) {
    case FRAMEBUS_ERROR_NOT_FOUND: return GST_RESOURCE_ERROR_NOT_FOUND;
    case FRAMEBUS_ERROR_BUSY: return GST_RESOURCE_ERROR_BUSY;
    case FRAMEBUS_ERROR_PERMISSION:
    case FRAMEBUS_ERROR_REFUSED: return GST_RESOURCE_ERROR_NOT_AUTHORIZED;
    case FRAMEBUS_ERROR_ARGUMENT: return GST_RESOURCE_ERROR_SETTINGS;
    case FRAMEBUS_ERROR_LIMIT: return GST_RESOURCE_ERROR_NO_SPACE_LEFT;
    default: return GST_RESOURCE_ERROR_FAILED;
  }
}

void plugin_post_error(GstElement *element, const framebus_error *error, const char *stream) {
  const char *message = error->message[0] != 0 ? error->message : framebus_strerror(error->code);
  // The message takes both texts over.
  gst_element_message_full(element, GST_MESSAGE_ERROR, GST_RESOURCE_ERROR, resource_error(error),
                           g_strdup(message),
                           g_strdup_printf("stream %s: code %d, errno %d",
                                           stream != NULL ? stream : "(not set)", error->code,
                                           error->system_error),
                           __FILE__, GST_FUNCTION, __LINE__);
}
