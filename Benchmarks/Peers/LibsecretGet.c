// libsecret as a subject of `framebus bench credential`: lookups in gnome-keyring on the turn's own
// bus, in its default keyring, unlocked.

#define _GNU_SOURCE
#include <libsecret/secret.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "RingKit.h"

static const SecretSchema schema = {
    .name = "org.framebus.Bench",
    .flags = SECRET_SCHEMA_NONE,
    .attributes = {{"service", SECRET_SCHEMA_ATTRIBUTE_STRING}, {NULL, 0}},
};

static void check(GError *error, const char *what) {
  if (error == NULL) return;
  fprintf(stderr, "error: %s: %s\n", what, error->message);
  exit(1);
}

static void set(const char *name, const char *value) {
  if (setenv(name, value, 1) != 0) ring_fail(name);
}

/// Starts a bus and a keyring with their files in the turn's directory.
static void start_keyring(const ring_job *job) {
  char *bus = ring_path(job, "bus"), *control = ring_path(job, "keyring"), *address = NULL;
  char *socket = ring_path(job, "keyring/control"), *listen = NULL, *unlock = NULL;
  if (asprintf(&address, "unix:path=%s", bus) < 0 ||
      asprintf(&listen, "--address=%s", address) < 0 ||
      // It reads the passphrase from standard input.
      asprintf(
          &unlock,
          "exec gnome-keyring-daemon --foreground --unlock --components=secrets"
          " --control-directory='%s' << END\npassphrase\nEND\n",
          control) < 0) {
    ring_fail("asprintf");
  }
  set("DBUS_SESSION_BUS_ADDRESS", address);
  set("HOME", job->directory);
  set("XDG_DATA_HOME", job->directory);
  set("XDG_RUNTIME_DIR", job->directory);
  char *daemon[] = {"dbus-daemon", "--session", "--nofork", "--nopidfile", listen, NULL};
  ring_start_daemon(daemon, bus);
  char *keyring[] = {"sh", "-c", unlock, NULL};
  ring_start_daemon(keyring, socket);
  free(unlock);
  free(listen);
  free(socket);
  free(address);
  free(control);
  free(bus);
}

static void name_of(unsigned number, char *text, size_t size) {
  snprintf(text, size, "s%06u.example.com", number);
}

static void fill(const ring_job *job) {
  char *secret = malloc(job->bytes + 1), name[64];
  if (secret == NULL) ring_fail("malloc");
  memset(secret, 'x', job->bytes);
  secret[job->bytes] = 0;
  for (unsigned number = 0; number < job->credentials; number++) {
    GError *error = NULL;
    name_of(number, name, sizeof name);
    secret_password_store_sync(
        &schema, SECRET_COLLECTION_DEFAULT, name, secret, NULL, &error, "service", name, NULL);
    check(error, "cannot store a secret");
  }
  free(secret);
}

int main(int count, char **arguments) {
  ring_job job = ring_job_from(count, arguments);
  ring_print_version("libsecret, gnome-keyring");
  start_keyring(&job);
  fill(&job);
  ring_publishing *run = ring_begin_publishing(&job);
  char name[64];
  for (unsigned number = 0; ring_next(run); number++) {
    GError *error = NULL;
    name_of(number % job.credentials, name, sizeof name);
    gchar *secret =
        secret_password_lookup_sync(&schema, NULL, &error, "service", name, NULL);
    check(error, "cannot look up a secret");
    if (secret == NULL || strlen(secret) != job.bytes) {
      fprintf(stderr, "error: the secret of %s is wrong\n", name);
      return 1;
    }
    secret_password_free(secret);
  }
  ring_report_publishing(run);
  return 0;
}
