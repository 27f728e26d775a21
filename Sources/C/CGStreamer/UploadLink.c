#include "CUploadPipeline.h"

#if __has_include(<gst/gst.h>)
#include <arpa/inet.h>
#include <gst/gst.h>
#include <netinet/in.h>
// Not netinet/tcp.h, whose tcp_info ends before the fields read here.
#include <linux/tcp.h>
#include <string.h>
#include <sys/socket.h>

/// Bytes that may wait in a socket beside those on their way: more would only be older when sent.
enum { MOST_UNSENT_BYTES = 32 * 1024 };
/// No program of this project has more descriptors at a time.
enum { MOST_DESCRIPTORS = 1024 };

static guint64 number_in(const GstStructure *figures, const char *name) {
  const GValue *value = gst_structure_get_value(figures, name);
  GValue number = G_VALUE_INIT;
  gint64 result = 0;
  g_value_init(&number, G_TYPE_INT64);
  if (value && g_value_transform(value, &number)) result = g_value_get_int64(&number);
  g_value_unset(&number);
  return result > 0 ? (guint64)result : 0;
}

/// libsrt's own count. A peer on a congested link reports a packet lost once, and skips it when it
/// is too late: what was sent again has mostly not arrived then. At least what was sent once, and
/// not reported lost, arrives.
static bool read_srt(GstElement *sink, struct upload_link *link) {
  GstStructure *figures = NULL;
  g_object_get(sink, "stats", &figures, NULL);
  if (figures == NULL) return false;
  gdouble roundTripMs = 0;
  bool isConnected = gst_structure_get_double(figures, "rtt-ms", &roundTripMs);
  link->roundTripNs = roundTripMs > 0 ? (uint64_t)(roundTripMs * 1e6) : 0;
  link->packetsLost = number_in(figures, "packets-sent-lost");
  link->packetsRetransmitted = number_in(figures, "packets-retransmitted");
  link->packetsDropped = number_in(figures, "packets-sent-dropped");
  guint64 packets = number_in(figures, "packets-sent");
  guint64 bytes = number_in(figures, "bytes-sent");
  guint64 again = number_in(figures, "bytes-retransmitted");
  link->packetsSent = packets - MIN(packets, link->packetsRetransmitted);
  if (link->packetsSent > 0) {
    guint64 arrived = link->packetsSent - MIN(link->packetsSent, link->packetsLost);
    link->bytesArrived =
        gst_util_uint64_scale(bytes - MIN(bytes, again), arrived, link->packetsSent);
  }
  gst_structure_free(figures);
  return isConnected;
}

static bool leads_to(int descriptor, int port) {
  struct sockaddr_storage peer;
  socklen_t size = sizeof peer;
  int type = 0;
  socklen_t typeSize = sizeof type;
  if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &typeSize) != 0 || type != SOCK_STREAM ||
      getpeername(descriptor, (struct sockaddr *)&peer, &size) != 0)
    return false;
  if (peer.ss_family == AF_INET)
    return ntohs(((struct sockaddr_in *)&peer)->sin_port) == port;
  return peer.ss_family == AF_INET6 && ntohs(((struct sockaddr_in6 *)&peer)->sin6_port) == port;
}

/// GStreamer does not name the sink's socket: it is the one that is connected to the sink's port.
static int socket_of(GstElement *sink) {
  gint port = 0;
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(sink), "port") == NULL) return -1;
  g_object_get(sink, "port", &port, NULL);
  for (int descriptor = 3; descriptor < MOST_DESCRIPTORS; descriptor++)
    if (leads_to(descriptor, port)) return descriptor;
  return -1;
}

static bool read_tcp(GstElement *sink, struct upload_link *link) {
  int descriptor = socket_of(sink);
  struct tcp_info info;
  socklen_t size = sizeof info;
  memset(&info, 0, sizeof info);
  if (descriptor < 0 || getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
    return false;
  link->roundTripNs = (uint64_t)info.tcpi_rtt * 1000;
  link->packetsSent = info.tcpi_segs_out;
  // TCP sends again what it takes for lost.
  link->packetsLost = link->packetsRetransmitted = info.tcpi_total_retrans;
  link->bytesArrived = info.tcpi_bytes_acked;
  link->bytesUnsent = info.tcpi_notsent_bytes;
  return true;
}

bool upload_pipeline_link(upload_pipeline *pipeline, struct upload_link *link) {
  GstElement *sink = upload_pipeline_last_element(pipeline);
  memset(link, 0, sizeof *link);
  bool isSRT = g_object_class_find_property(G_OBJECT_GET_CLASS(sink), "pbkeylen") != NULL;
  return isSRT ? read_srt(sink, link) : read_tcp(sink, link);
}

bool upload_pipeline_bound_queue(upload_pipeline *pipeline) {
  int descriptor = socket_of(upload_pipeline_last_element(pipeline));
  int most = MOST_UNSENT_BYTES;
  return descriptor >= 0 &&
         setsockopt(descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most, sizeof most) == 0;
}

#else
// Without the package trait Media this file has only the declaration that ISO C requires.
typedef int upload_link_is_absent;
#endif
