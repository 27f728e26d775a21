// GSettings over dconf as a subject of `framebus bench defaults`, with the turn's own bus and
// directory. It creates its schema, because GSettings requires one.

#define _GNU_SOURCE
#include <gio/gio.h>
#include <stdio.h>
#include <stdlib.h>

#include "RingKit.h"

static const char schema[] =
    "<schemalist><schema id='org.framebus.bench' path='/org/framebus/bench/'>"
    "<key name='number' type='t'><default>0</default></key></schema></schemalist>";

static void prepare(const ring_job *job) {
  char *socket = ring_path(job, "bus"), *address = NULL;
  if (asprintf(&address, "unix:path=%s", socket) < 0) ring_fail("asprintf");
  setenv("DBUS_SESSION_BUS_ADDRESS", address, 1);
  setenv("XDG_CONFIG_HOME", job->directory, 1);
  setenv("XDG_RUNTIME_DIR", job->directory, 1);
  setenv("GSETTINGS_SCHEMA_DIR", job->directory, 1);
  setenv("GSETTINGS_BACKEND", "dconf", 1);
  if (job->publishes) {
    char *path = ring_path(job, "bench.gschema.xml"), *command = NULL, *option = NULL;
    if (!g_file_set_contents(path, schema, -1, NULL)) ring_fail("schema");
    if (asprintf(&command, "glib-compile-schemas %s", job->directory) < 0) ring_fail("asprintf");
    if (system(command) != 0) ring_fail("glib-compile-schemas");
    if (asprintf(&option, "--address=%s", address) < 0) ring_fail("asprintf");
    char *arguments[] = {"dbus-daemon", "--session", "--nofork", "--nopidfile", option, NULL};
    ring_start_daemon(arguments, socket);
    free(path);
    free(command);
    free(option);
  }
  free(address);
  free(socket);
}

static void publish(const ring_job *job) {
  GSettings *settings = g_settings_new("org.framebus.bench");
  g_settings_set_uint64(settings, "number", 1);
  g_settings_sync();
  ring_publishing *run = ring_begin_publishing(job);
  ring_page *page = run->page;
  uint64_t sum = 0;
  while (ring_next(run)) {
    ring_write(run, &page->head);
    if (job->checks) {
      sum += g_settings_get_uint64(settings, "number");
    } else {
      g_settings_set_uint64(settings, "number", page->head.number);
      // Waits until the service has the value, so that it survives this process.
      g_settings_sync();
    }
    ring_posted(run, &page->head);
  }
  uint64_t number = page->head.number + sum;
  while (ring_unreleased(run)) {
    ring_write_end(&page->head);
    g_settings_set_uint64(settings, "number", ++number);
    g_settings_sync();
  }
  ring_report_publishing(run);
}

typedef struct {
  ring_receiving *run;
  GMainLoop *loop;
} observer;

static void take(GSettings *settings, const char *key, gpointer context) {
  observer *self = context;
  g_settings_get_uint64(settings, key);
  if (self->run != NULL && !ring_take(self->run, &self->run->page->head)) {
    g_main_loop_quit(self->loop);
  }
}

static void observe(const ring_job *job) {
  observer self = {NULL, g_main_loop_new(NULL, FALSE)};
  GSettings *settings = g_settings_new("org.framebus.bench");
  g_signal_connect(settings, "changed::number", G_CALLBACK(take), &self);
  g_settings_get_uint64(settings, "number");
  self.run = ring_begin_receiving(job);
  g_main_loop_run(self.loop);
  ring_report_receiving(self.run);
}

int main(int count, char **arguments) {
  ring_job job = ring_job_from(count, arguments);
  ring_print_version("GSettings, dconf, dbus-daemon");
  prepare(&job);
  if (job.publishes) {
    publish(&job);
  } else {
    observe(&job);
  }
  return 0;
}
