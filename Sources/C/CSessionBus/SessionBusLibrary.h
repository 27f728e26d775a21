// What is used of sd-bus.h (sd-bus(3)), which the build does not need.
#pragma once

#include <stdint.h>

typedef struct sd_bus sd_bus;
typedef struct sd_bus_message sd_bus_message;
typedef struct sd_bus_slot sd_bus_slot;
typedef struct {
  const char *name;
  const char *message;
  int needsFree;
} sd_bus_error;
typedef int (*sd_bus_handler)(sd_bus_message *message, void *user, sd_bus_error *error);

static const char *const session_bus_library = "libsystemd.so.0";
