#define _GNU_SOURCE
#include "Confine.h"

#include <stdio.h>
#include <string.h>

static int reportDescriptor = -1;

void report_to(int descriptor) { reportDescriptor = descriptor; }

void report(const char *measure, bool isOn, const char *detail) {
  dprintf(reportDescriptor, "{\"measure\":\"%s\",\"state\":\"%s\",\"detail\":\"%s\"}\n", measure,
          isOn ? "on" : "off", detail);
}

void report_result(const char *measure, int error, const char *detail) {
  report(measure, error == 0, error == 0 ? detail : strerror(error));
}
