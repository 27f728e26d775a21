#include "CNetworkStream.h"

#if __has_include(<gst/gst.h>)
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <gst/rtp/gstrtcpbuffer.h>
#include <netdb.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// What a sender's RTCP reports say, kept with its pipeline.
struct sender_time {
  GstElement *pipeline;
  GMutex lock;
  bool isKnown;
  /// Nanoseconds since 1970, by the sender's clock, at 0 of the pipeline's clock.
  int64_t wallAtZeroNs;
};

static const char senderTime[] = "framebus-sender-time";

static void free_sender_time(gpointer data) {
  struct sender_time *time = data;
  g_mutex_clear(&time->lock);
  g_free(time);
}

// RFC 3550, section 6.4.1: a report names one moment by the sender's clock, and in the time stamps
// of its packets. The structure places these on the pipeline's running time. Reports on pictures
// count, whose clock has 90 kHz (RFC 6184, RFC 7741): sound has other delays, and where nothing
// hears it, its report names no time.
static void note_report(GstElement *element, GstStructure *sync, gpointer data) {
  (void)element;
  struct sender_time *time = data;
  guint64 baseRTP, baseNs, reportRTP, ntp;
  guint rate;
  GstBuffer *buffer = NULL;
  bool isComplete = gst_structure_get(
      sync, "base-rtptime", G_TYPE_UINT64, &baseRTP, "base-time", G_TYPE_UINT64, &baseNs,
      "sr-ext-rtptime", G_TYPE_UINT64, &reportRTP, "clock-rate", G_TYPE_UINT, &rate, "sr-buffer",
      GST_TYPE_BUFFER, &buffer, NULL);
  GstClockTime zero = gst_element_get_base_time(time->pipeline);
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstRTCPPacket packet;
  if (isComplete && rate == 90000 && GST_CLOCK_TIME_IS_VALID(zero) &&
      GST_CLOCK_TIME_IS_VALID(baseNs) && gst_rtcp_buffer_map(buffer, GST_MAP_READ, &rtcp)) {
    if (gst_rtcp_buffer_get_first_packet(&rtcp, &packet) &&
        gst_rtcp_packet_get_type(&packet) == GST_RTCP_TYPE_SR) {
      gst_rtcp_packet_sr_get_sender_info(&packet, NULL, &ntp, NULL, NULL, NULL);
      double aheadNs = ((double)reportRTP - (double)baseRTP) * 1e9 / rate;
      int64_t wallNs = (int64_t)(gst_rtcp_ntp_to_unix(ntp));
      bool isPlausible = ntp != 0 && aheadNs > -1e15 && aheadNs < 1e15;
      g_mutex_lock(&time->lock);
      if (isPlausible) time->wallAtZeroNs = wallNs - (int64_t)(baseNs + zero) - (int64_t)aheadNs;
      if (isPlausible) time->isKnown = true;
      g_mutex_unlock(&time->lock);
    }
    gst_rtcp_buffer_unmap(&rtcp);
  }
  if (buffer != NULL) gst_buffer_unref(buffer);
}

// Decoding on several threads keeps a picture back for each.
static void prepare_element(GstBin *bin, GstBin *sub, GstElement *element, gpointer data) {
  (void)bin, (void)sub;
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(element), "thread-type") != NULL) {
    gst_util_set_object_arg(G_OBJECT(element), "thread-type", "slice");
  }
  // A depayloader that has lost a packet asks for a picture that needs no other.
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(element), "request-keyframe") != NULL) {
    g_object_set(element, "request-keyframe", TRUE, NULL);
  }
  if (g_signal_lookup("handle-sync", G_OBJECT_TYPE(element)) != 0) {
    g_signal_connect(element, "handle-sync", G_CALLBACK(note_report), data);
  }
}

// With a filter, gst-launch's syntax may lose a track: if two pads appear at once, on two threads,
// each attempt holds the other's decoder while it fails.
static void link_track(GstElement *element, GstPad *pad, gpointer pipeline) {
  (void)element;
  GstCaps *caps = gst_pad_query_caps(pad, NULL);
  const char *media = gst_caps_is_empty(caps) || gst_caps_is_any(caps)
                          ? NULL
                          : gst_structure_get_string(gst_caps_get_structure(caps, 0), "media");
  const char *name = g_strcmp0(media, "video") == 0   ? "decoder"
                     : g_strcmp0(media, "audio") == 0 ? "hearing"
                                                      : NULL;
  GstElement *decoder = name != NULL ? gst_bin_get_by_name(pipeline, name) : NULL;
  GstPad *input = decoder != NULL ? gst_element_get_static_pad(decoder, "sink") : NULL;
  // A track of another kind, or a second one, has no place.
  if (input != NULL && !gst_pad_is_linked(input)) gst_pad_link(pad, input);
  if (input != NULL) gst_object_unref(input);
  if (decoder != NULL) gst_object_unref(decoder);
  gst_caps_unref(caps);
}

void fb_network_link_tracks(GstElement *pipeline) {
  GstElement *source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
  if (source == NULL) return;
  g_signal_connect(source, "pad-added", G_CALLBACK(link_track), pipeline);
  gst_object_unref(source);
}

void fb_network_fail(GstElement *pipeline) {
  GError *error = g_error_new_literal(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, "it is lost");
  gst_element_post_message(pipeline, gst_message_new_error(GST_OBJECT(pipeline), error, NULL));
  g_error_free(error);
}

bool fb_network_sender_time(GstElement *pipeline, int64_t *wallAtZeroNs) {
  struct sender_time *time = g_object_get_data(G_OBJECT(pipeline), senderTime);
  if (time == NULL) return false;
  g_mutex_lock(&time->lock);
  bool isKnown = time->isKnown;
  *wallAtZeroNs = time->wallAtZeroNs;
  g_mutex_unlock(&time->lock);
  return isKnown;
}

void fb_network_prepare(GstElement *pipeline) {
  GstClock *clock = gst_system_clock_obtain();
  gst_pipeline_use_clock(GST_PIPELINE(pipeline), clock);
  gst_object_unref(clock);
  struct sender_time *time = g_new0(struct sender_time, 1);
  g_mutex_init(&time->lock);
  time->pipeline = pipeline;
  g_object_set_data_full(G_OBJECT(pipeline), senderTime, time, free_sender_time);
  g_signal_connect(pipeline, "deep-element-added", G_CALLBACK(prepare_element), time);
}

char *fb_network_trust(const char *path) {
  GError *error = NULL;
  GTlsDatabase *database = g_tls_file_database_new(path, &error);
  if (database == NULL) {
    char *message = g_strdup(error->message);
    g_clear_error(&error);
    return message;
  }
  g_tls_backend_set_default_database(g_tls_backend_get_default(), database);
  g_object_unref(database);
  return NULL;
}

static bool reads_addresses(GstPluginFeature *feature) {
  return GST_IS_ELEMENT_FACTORY(feature) &&
         gst_element_factory_get_uri_type(GST_ELEMENT_FACTORY(feature)) == GST_URI_SRC;
}

// A plugin that pipelines need is loaded first: loading it would add its elements again.
static void remove_readers(GstRegistry *registry, GstPlugin *plugin, const char *kept) {
  const char *name = gst_plugin_get_name(plugin);
  GList *features = gst_registry_get_feature_list_by_plugin(registry, name);
  bool hasReaders = false, isNeeded = strcmp(name, "coreelements") == 0;
  for (GList *at = features; at != NULL; at = at->next) {
    if (g_strcmp0(GST_OBJECT_NAME(at->data), kept) == 0) isNeeded = true;
    if (reads_addresses(at->data)) hasReaders = true;
  }
  if (hasReaders && !isNeeded) gst_registry_remove_plugin(registry, plugin);
  if (hasReaders && isNeeded) {
    GstPlugin *loaded = gst_plugin_load(plugin);
    for (GList *at = features; at != NULL; at = at->next) {
      bool isKept = g_strcmp0(GST_OBJECT_NAME(at->data), kept) == 0;
      if (reads_addresses(at->data) && !isKept) gst_registry_remove_feature(registry, at->data);
    }
    if (loaded != NULL) gst_object_unref(loaded);
  }
  gst_plugin_feature_list_free(features);
}

void fb_network_keep_only(const char *element) {
  GstRegistry *registry = gst_registry_get();
  GList *plugins = gst_registry_get_plugin_list(registry);
  for (GList *at = plugins; at != NULL; at = at->next) {
    remove_readers(registry, at->data, element);
  }
  gst_plugin_list_free(plugins);
}

// The first packet of an SRT caller: a handshake of version 4 (draft-sharabayko-srt, 3.2.1 and
// 4.3.1), which a listener answers without keeping anything.
static size_t write_induction(uint8_t packet[64]) {
  const uint32_t words[] = {0x80000000, 0, 0, 0, 4, 2, 1, 1500, 8192, 1, 1, 0};
  memset(packet, 0, 64);
  for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
    uint32_t word = htonl(words[i]);
    memcpy(packet + i * sizeof word, &word, sizeof word);
  }
  return 64;
}

static int await(int number, short events, int timeoutMs) {
  struct pollfd entry = {.fd = number, .events = events};
  int count;
  do count = poll(&entry, 1, timeoutMs);
  while (count < 0 && errno == EINTR);
  if (count < 0) return errno;
  if (count == 0) return ETIMEDOUT;
  int failure = 0;
  socklen_t size = sizeof failure;
  if (getsockopt(number, SOL_SOCKET, SO_ERROR, &failure, &size) < 0) return errno;
  return failure;
}

static int reach(int number, const struct addrinfo *target, bool isDatagram, int timeoutMs) {
  if (connect(number, target->ai_addr, target->ai_addrlen) < 0 && errno != EINPROGRESS) {
    return errno;
  }
  if (!isDatagram) return await(number, POLLOUT, timeoutMs);
  uint8_t packet[64];
  size_t count = write_induction(packet);
  if (send(number, packet, count, MSG_NOSIGNAL) < 0) return errno;
  int failure = await(number, POLLIN, timeoutMs);
  if (failure != 0) return failure;
  return recv(number, packet, sizeof packet, MSG_DONTWAIT) < 0 ? errno : 0;
}

static struct addrinfo *numeric(const char *address, uint16_t port, bool isDatagram) {
  struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                           .ai_socktype = isDatagram ? SOCK_DGRAM : SOCK_STREAM};
  char service[8];
  g_snprintf(service, sizeof service, "%u", port);
  struct addrinfo *found = NULL;
  return getaddrinfo(address, service, &hints, &found) == 0 ? found : NULL;
}

int fb_network_reach(const char *address, uint16_t port, bool isDatagram, int timeoutMs) {
  struct addrinfo *target = numeric(address, port, isDatagram);
  if (target == NULL) return EINVAL;
  int number =
      socket(target->ai_family, target->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  int failure = number < 0 ? errno : reach(number, target, isDatagram, timeoutMs);
  if (number >= 0) close(number);
  freeaddrinfo(target);
  return failure;
}

enum fb_reach fb_network_reach_kind(int failure) {
  switch (failure) {
  case ECONNREFUSED: return FB_REACH_REFUSED;
  case ENETUNREACH:
  case EHOSTUNREACH: return FB_REACH_NO_ROUTE;
  case ETIMEDOUT: return FB_REACH_NO_ANSWER;
  default: return FB_REACH_OTHER;
  }
}

static gboolean note_flags(GTlsConnection *connection, GTlsCertificate *certificate,
                           GTlsCertificateFlags flags, gpointer found) {
  (void)connection, (void)certificate;
  *(GTlsCertificateFlags *)found = flags;
  return FALSE;
}

static void watch_handshake(GSocketClient *client, GSocketClientEvent event,
                            GSocketConnectable *target, GIOStream *stream, gpointer found) {
  (void)client, (void)target;
  if (event != G_SOCKET_CLIENT_TLS_HANDSHAKING) return;
  g_signal_connect(stream, "accept-certificate", G_CALLBACK(note_flags), found);
}

static const char *text_of(GTlsCertificateFlags flags) {
  if (flags & G_TLS_CERTIFICATE_EXPIRED) return "it has expired";
  if (flags & G_TLS_CERTIFICATE_NOT_ACTIVATED) return "it is not valid yet";
  if (flags & G_TLS_CERTIFICATE_REVOKED) return "it is revoked";
  if (flags & G_TLS_CERTIFICATE_UNKNOWN_CA) return "its signer is unknown to this machine";
  if (flags & G_TLS_CERTIFICATE_BAD_IDENTITY) return "it is for another name";
  return flags != 0 ? "it is malformed or insecure" : NULL;
}

const char *fb_network_distrust(const char *host, uint16_t port, unsigned timeoutS) {
  GTlsCertificateFlags flags = 0;
  GSocketClient *client = g_socket_client_new();
  g_socket_client_set_timeout(client, timeoutS);
  g_socket_client_set_tls(client, TRUE);
  g_signal_connect(client, "event", G_CALLBACK(watch_handshake), &flags);
  GSocketConnection *connection = g_socket_client_connect_to_host(client, host, port, NULL, NULL);
  if (connection != NULL) g_object_unref(connection);
  g_object_unref(client);
  return text_of(flags);
}

#if __has_include(<srt/srt.h>)
#include <dlfcn.h>
#include <srt/access_control.h>
#include <srt/srt.h>

// The functions of libsrt in use. No program links it: GStreamer's plugin has loaded its own.
#define FUNCTIONS(use)                                                                             \
  use(srt_startup) use(srt_create_socket) use(srt_setsockflag) use(srt_connect)                    \
  use(srt_getrejectreason) use(srt_close)

struct library {
#define DECLARE(name) __typeof__(&name) name;
  FUNCTIONS(DECLARE)
};

static bool find_library(struct library *library) {
  GstPlugin *plugin = gst_registry_find_plugin(gst_registry_get(), "srt");
  const char *path = plugin != NULL ? gst_plugin_get_filename(plugin) : NULL;
  // Searches the libraries that the plugin needs as well; it stays loaded.
  void *handle = path != NULL ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (plugin != NULL) gst_object_unref(plugin);
  if (handle == NULL) return false;
#define FIND(name)                                                                                 \
  *(void **)&library->name = dlsym(handle, #name);                                                 \
  if (library->name == NULL) return false;
  FUNCTIONS(FIND)
  return true;
}

static void set_text(struct library *library, SRTSOCKET number, SRT_SOCKOPT option,
                     const char *text) {
  if (text != NULL) library->srt_setsockflag(number, option, text, (int)strlen(text));
}

int fb_srt_ask(const char *address, uint16_t port, const char *passphrase, const char *streamID,
               int timeoutMs) {
  struct library library;
  if (!find_library(&library)) return -1;
  struct addrinfo *target = numeric(address, port, true);
  if (target == NULL) return -1;
  library.srt_startup();
  SRTSOCKET number = library.srt_create_socket();
  int reason = -1;
  if (number != SRT_INVALID_SOCK) {
    library.srt_setsockflag(number, SRTO_CONNTIMEO, &timeoutMs, sizeof timeoutMs);
    set_text(&library, number, SRTO_PASSPHRASE, passphrase);
    set_text(&library, number, SRTO_STREAMID, streamID);
    int result = library.srt_connect(number, target->ai_addr, (int)target->ai_addrlen);
    reason = result == SRT_ERROR ? library.srt_getrejectreason(number) : 0;
    if (result == SRT_ERROR && reason == 0) reason = -1;
    library.srt_close(number);
  }
  freeaddrinfo(target);
  return reason;
}

enum fb_srt_reason fb_srt_reason(int code) {
  switch (code) {
  case SRT_REJ_BADSECRET: return FB_SRT_BAD_SECRET;
  case SRT_REJ_UNSECURE: return FB_SRT_UNSECURE;
  case SRT_REJ_TIMEOUT: return FB_SRT_NO_ANSWER;
  case SRT_REJ_BACKLOG:
  case SRT_REJ_RESOURCE:
  case SRT_REJX_OVERLOAD: return FB_SRT_BUSY;
  case SRT_REJX_UNAUTHORIZED: return FB_SRT_UNAUTHORIZED;
  case SRT_REJX_FORBIDDEN: return FB_SRT_FORBIDDEN;
  case SRT_REJX_NOTFOUND: return FB_SRT_NOT_FOUND;
  default: return FB_SRT_OTHER;
  }
}
#else
int fb_srt_ask(const char *address, uint16_t port, const char *passphrase, const char *streamID,
               int timeoutMs) {
  (void)address, (void)port, (void)passphrase, (void)streamID, (void)timeoutMs;
  return -1;
}

enum fb_srt_reason fb_srt_reason(int code) {
  (void)code;
  return FB_SRT_OTHER;
}
#endif
#endif
