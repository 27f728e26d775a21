// What a program can do with the connection to PipeWire that a broadcast's host opens for it:
//
//   GrantProbe [NODE]
//
// It prints a line for each object that it can see, and then whether NODE, which it takes from the
// command line, can be bound after it has asked for every permission.
#if __has_include(<pipewire/pipewire.h>)
#define _GNU_SOURCE
#include <pipewire/pipewire.h>
#include <stdio.h>
#include <stdlib.h>

#include "CPipeWireCamera.h"

static struct pw_main_loop *loop;
static int done = -1, last;
static bool isRefused;

static void core_done(void *user, uint32_t id, int sequence) {
  (void)user;
  (void)id;
  done = sequence;
  if (sequence == last) pw_main_loop_quit(loop);
}

static void core_error(void *user, uint32_t id, int sequence, int result, const char *message) {
  (void)user;
  (void)sequence;
  isRefused = true;
  fprintf(stderr, "object %u: %d %s\n", id, result, message);
  if (id == PW_ID_CORE && result == -EPIPE) exit(1);
}

static void global(void *user, uint32_t id, uint32_t permissions, const char *type,
                   uint32_t version, const struct spa_dict *properties) {
  (void)user;
  (void)id;
  (void)version;
  const char *name = properties ? spa_dict_lookup(properties, PW_KEY_FACTORY_NAME) : NULL;
  printf("%s %s %x\n", type, name != NULL ? name : "-", permissions);
}

static void settle(struct pw_core *core) {
  last = pw_core_sync(core, PW_ID_CORE, 0);
  pw_main_loop_run(loop);
}

int main(int count, char **words) {
  pw_init(NULL, NULL);
  struct fb_camera_failure failure = {{0}};
  int descriptor = fb_camera_grant(5000, &failure);
  if (descriptor < 0) {
    fprintf(stderr, "refused: %s\n", failure.text);
    return 1;
  }
  loop = pw_main_loop_new(NULL);
  struct pw_context *context = pw_context_new(pw_main_loop_get_loop(loop), NULL, 0);
  struct pw_core *core = pw_context_connect_fd(context, descriptor, NULL, 0);
  static const struct pw_core_events core_events = {
      PW_VERSION_CORE_EVENTS, .done = core_done, .error = core_error};
  static const struct pw_registry_events registry_events = {
      PW_VERSION_REGISTRY_EVENTS, .global = global};
  struct spa_hook core_listener = {0}, registry_listener = {0};
  pw_core_add_listener(core, &core_listener, &core_events, NULL);
  const struct pw_permission everything[] = {{PW_ID_CORE, PW_PERM_ALL}, {PW_ID_ANY, PW_PERM_ALL}};
  pw_client_update_permissions(pw_core_get_client(core), 2, everything);
  settle(core);
  struct pw_registry *registry = pw_core_get_registry(core, PW_VERSION_REGISTRY, 0);
  pw_registry_add_listener(registry, &registry_listener, &registry_events, NULL);
  settle(core);
  if (count > 1) {
    isRefused = false;
    pw_registry_bind(registry, (uint32_t)atoi(words[1]), PW_TYPE_INTERFACE_Node, PW_VERSION_NODE,
                     0);
    settle(core);
    printf("bind %s\n", isRefused ? "refused" : "allowed");
  }
  return 0;
}
#else
int main(void) { return 1; }
#endif
