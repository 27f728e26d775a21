#if __has_include(<pipewire/pipewire.h>)
#define _GNU_SOURCE
#include <spa/utils/result.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "CPipeWireCamera.h"
#include "PipeWireLibrary.h"

/// The kind of node that a client's streams are.
static const char factory_name[] = "client-node";

struct grant {
  const struct fb_pipewire_library *library;
  struct pw_loop *loop;
  struct pw_context *context;
  struct pw_core *core;
  struct pw_registry *registry;
  struct spa_hook core_listener, registry_listener;
  uint32_t factory;
  int done;
  bool hasFailed;
  struct fb_camera_failure *failure;
};

static void fail(struct grant *self, const char *why) {
  if (!self->hasFailed) snprintf(self->failure->text, sizeof self->failure->text, "%s", why);
  self->hasFailed = true;
}

static void core_error(void *user, uint32_t id, int sequence, int result, const char *message) {
  (void)id;
  (void)sequence;
  fail(user, message != NULL ? message : spa_strerror(result));
}

static void core_done(void *user, uint32_t id, int sequence) {
  struct grant *self = user;
  if (id == PW_ID_CORE) self->done = sequence;
}

static const struct pw_core_events core_events = {
    PW_VERSION_CORE_EVENTS, .error = core_error, .done = core_done};

static void registry_global(void *user, uint32_t id, uint32_t permissions, const char *type,
                            uint32_t version, const struct spa_dict *properties) {
  (void)permissions;
  (void)version;
  struct grant *self = user;
  if (strcmp(type, PW_TYPE_INTERFACE_Factory) != 0 || properties == NULL) return;
  const char *name = spa_dict_lookup(properties, PW_KEY_FACTORY_NAME);
  if (name != NULL && strcmp(name, factory_name) == 0) self->factory = id;
}

static const struct pw_registry_events registry_events = {
    PW_VERSION_REGISTRY_EVENTS, .global = registry_global};

static int64_t now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/// Waits until the server has handled everything so far.
static bool settle(struct grant *self, int64_t deadlineMs) {
  int wanted = pw_core_sync(self->core, PW_ID_CORE, 0);
  while (self->done != wanted && !self->hasFailed) {
    int64_t left = deadlineMs - now_ms();
    if (left <= 0) fail(self, "it does not answer");
    else if (pw_loop_iterate(self->loop, (int)left) < 0) fail(self, "its connection fails");
  }
  return !self->hasFailed;
}

static bool connect_server(struct grant *self) {
  const struct fb_pipewire_library *library = self->library;
  self->context = library->context_new(self->loop, NULL, 0);
  self->core = self->context != NULL ? library->context_connect(self->context, NULL, 0) : NULL;
  if (self->core == NULL) return fail(self, "it is not running"), false;
  pw_core_add_listener(self->core, &self->core_listener, &core_events, self);
  self->registry = pw_core_get_registry(self->core, PW_VERSION_REGISTRY, 0);
  if (self->registry == NULL) return fail(self, "no memory"), false;
  pw_registry_add_listener(self->registry, &self->registry_listener, &registry_events, self);
  return true;
}

/// A client can take permissions from itself, but give itself none.
static bool restrict_client(struct grant *self, int64_t deadlineMs) {
  if (!settle(self, deadlineMs)) return false;
  if (self->factory == SPA_ID_INVALID) return fail(self, "it lets no client add a node"), false;
  struct pw_client *client = self->library->core_get_client(self->core);
  const struct pw_permission permissions[] = {
      {PW_ID_CORE, PW_PERM_RWX}, {self->factory, PW_PERM_R}, {PW_ID_ANY, 0}};
  pw_client_update_permissions(client, SPA_N_ELEMENTS(permissions), permissions);
  return settle(self, deadlineMs);
}

static void end(struct grant *self) {
  const struct fb_pipewire_library *library = self->library;
  if (self->registry != NULL) library->proxy_destroy((struct pw_proxy *)self->registry);
  if (self->core != NULL) {
    spa_hook_remove(&self->core_listener);
    library->core_disconnect(self->core);
  }
  if (self->context != NULL) library->context_destroy(self->context);
}

int fb_camera_grant(int timeoutMs, struct fb_camera_failure *failure) {
  struct grant self = {
      .library = fb_pipewire_library(), .factory = SPA_ID_INVALID, .done = -1, .failure = failure};
  if (self.library == NULL) return fail(&self, "libpipewire-0.3.so.0 cannot be loaded"), -1;
  self.loop = self.library->loop_new(NULL);
  if (self.loop == NULL) return fail(&self, "no memory"), -1;
  pw_loop_enter(self.loop);
  int descriptor = -1;
  if (connect_server(&self) && restrict_client(&self, now_ms() + timeoutMs)) {
    descriptor = self.library->core_steal_fd(self.core);
    if (descriptor < 0) fail(&self, "its connection cannot be passed on");
  }
  end(&self);
  pw_loop_leave(self.loop);
  self.library->loop_destroy(self.loop);
  return descriptor;
}
#endif
