#define _GNU_SOURCE
#include "CWebRTC.h"

#ifdef FRAMEBUS_MEDIA
#include <arpa/inet.h>
#include <dlfcn.h>
#include <ifaddrs.h>
#include <linux/filter.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "WebRTCPeer.h"

bool webrtc_peer_add_local_address(webrtc_peer *peer, const char *address) {
  GObject *agent = NULL;
  gboolean isAdded = FALSE;
  g_object_get(peer->element, "ice-agent", &agent, NULL);
  if (agent == NULL) return false;
  g_signal_emit_by_name(agent, "add-local-ip-address", address, &isAdded);
  g_object_unref(agent);
  return isAdded;
}

/// The text of an address that a peer on this machine may send to. Link-local addresses of IPv6
/// are useless to it: a candidate names no interface.
static const char *usable_text(const struct sockaddr *address, char *text, socklen_t capacity) {
  if (address == NULL) return NULL;
  if (address->sa_family == AF_INET) {
    const struct sockaddr_in *ip = (const struct sockaddr_in *)address;
    return inet_ntop(AF_INET, &ip->sin_addr, text, capacity);
  }
  if (address->sa_family != AF_INET6) return NULL;
  const struct sockaddr_in6 *ip = (const struct sockaddr_in6 *)address;
  if (IN6_IS_ADDR_LINKLOCAL(&ip->sin6_addr)) return NULL;
  return inet_ntop(AF_INET6, &ip->sin6_addr, text, capacity);
}

unsigned webrtc_peer_add_all_addresses(webrtc_peer *peer) {
  enum { MAXIMUM_ADDRESSES = 16 };
  struct ifaddrs *all = NULL;
  if (getifaddrs(&all) != 0) return 0;
  unsigned count = 0;
  // Loopback first, so that the limit never leaves it out.
  const unsigned wanted[] = {IFF_UP | IFF_LOOPBACK, IFF_UP};
  for (unsigned i = 0; i < 2; i++) {
    for (struct ifaddrs *one = all; one != NULL && count < MAXIMUM_ADDRESSES; one = one->ifa_next) {
      char text[INET6_ADDRSTRLEN];
      if ((one->ifa_flags & (IFF_UP | IFF_LOOPBACK)) == wanted[i] &&
          usable_text(one->ifa_addr, text, sizeof text) != NULL)
        count += webrtc_peer_add_local_address(peer, text);
    }
  }
  freeifaddrs(all);
  return count;
}

bool webrtc_is_loopback(const char *address) {
  return address != NULL && (strcmp(address, "::1") == 0 || strncmp(address, "127.", 4) == 0);
}

/// libnice's `nice_agent_get_sockets`, from 0.1.20 on; NULL without it. It is looked up because
/// GStreamer's plugin, not this program, is linked to libnice, whose headers may be missing.
typedef GPtrArray *(*sockets_function)(GObject *agent, guint stream, guint component);
static sockets_function find_sockets(void) {
  void *library = dlopen("libnice.so.10", RTLD_LAZY | RTLD_NOLOAD);
  if (library == NULL) return NULL;
  sockets_function found = (sockets_function)dlsym(library, "nice_agent_get_sockets");
  dlclose(library);
  return found;
}

bool webrtc_can_close_to_others(void) { return find_sockets() != NULL; }

/// Drops every packet that did not arrive by loopback, as all from this machine do. `socket` is a
/// GSocket.
static bool take_only_loopback(GObject *socket, unsigned loopback) {
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (__u32)(SKF_AD_OFF + SKF_AD_IFINDEX)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, loopback, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 0xFFFFFFFF),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  struct sock_fprog filter = {.len = sizeof steps / sizeof steps[0], .filter = steps};
  int descriptor = -1;
  g_object_get(socket, "fd", &descriptor, NULL);
  return setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) == 0;
}

bool webrtc_close_to_others(GstElement *receiver) {
  sockets_function get_sockets = find_sockets();
  unsigned loopback = if_nametoindex("lo");
  if (receiver == NULL || get_sockets == NULL || loopback == 0) return false;
  GObject *agent = NULL;
  guint stream = 0, component = 0;
  g_object_get(receiver, "agent", &agent, "stream", &stream, "component", &component, NULL);
  if (agent == NULL) return false;
  GPtrArray *sockets = get_sockets(agent, stream, component);
  bool isClosed = sockets != NULL;
  for (guint i = 0; sockets != NULL && i < sockets->len; i++)
    isClosed = take_only_loopback(g_ptr_array_index(sockets, i), loopback) && isClosed;
  g_clear_pointer(&sockets, g_ptr_array_unref);
  g_object_unref(agent);
  return isClosed;
}

#else
typedef int webrtc_addresses_are_absent;
#endif
