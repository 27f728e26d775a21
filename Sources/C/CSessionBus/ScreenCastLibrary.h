// The functions of sd-bus that a screen cast needs, in a table that dlsym(3) fills.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "SessionBusLibrary.h"

struct screencast_library {
  int (*open_user)(sd_bus **bus);
  int (*is_ready)(sd_bus *bus);
  int (*get_unique_name)(sd_bus *bus, const char **name);
  int (*get_fd)(sd_bus *bus);
  int (*get_events)(sd_bus *bus);
  int (*get_timeout)(sd_bus *bus, uint64_t *microseconds);
  int (*process)(sd_bus *bus, sd_bus_message **message);
  int (*new_call)(sd_bus *bus, sd_bus_message **message, const char *destination, const char *path,
                  const char *interface, const char *member);
  int (*append)(sd_bus_message *message, const char *types, ...);
  int (*open_container)(sd_bus_message *message, char type, const char *contents);
  int (*close_container)(sd_bus_message *message);
  int (*call_async)(sd_bus *bus, sd_bus_slot **slot, sd_bus_message *message,
                    sd_bus_handler handler, void *user, uint64_t microseconds);
  int (*match_signal_async)(sd_bus *bus, sd_bus_slot **slot, const char *sender, const char *path,
                            const char *interface, const char *member, sd_bus_handler handler,
                            sd_bus_handler installed, void *user);
  int (*read)(sd_bus_message *message, const char *types, ...);
  int (*enter_container)(sd_bus_message *message, char type, const char *contents);
  int (*exit_container)(sd_bus_message *message);
  int (*skip)(sd_bus_message *message, const char *types);
  int (*peek_type)(sd_bus_message *message, char *type, const char **contents);
  const char *(*get_sender)(sd_bus_message *message);
  const sd_bus_error *(*get_error)(sd_bus_message *message);
  sd_bus_message *(*unref_message)(sd_bus_message *message);
  sd_bus_slot *(*unref_slot)(sd_bus_slot *slot);
  sd_bus *(*close)(sd_bus *bus);
};

/// Never unloaded: the library keeps memory for each thread.
bool screencast_load(struct screencast_library *library);
