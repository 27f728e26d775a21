// One input of the fuzzer, consumed from its front. After its end it reads as zeros.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kit_input {
  const uint8_t *bytes;
  size_t count;
};

/// Fills `target`; what the input lacks is zero.
static void kit_fill(struct kit_input *input, void *target, size_t count) {
  size_t taken = count < input->count ? count : input->count;
  memset(target, 0, count);
  if (taken > 0) memcpy(target, input->bytes, taken);
  input->bytes += taken;
  input->count -= taken;
}

static uint8_t kit_byte(struct kit_input *input) {
  uint8_t value;
  kit_fill(input, &value, sizeof value);
  return value;
}

static uint32_t kit_number(struct kit_input *input) {
  uint32_t value;
  kit_fill(input, &value, sizeof value);
  return value;
}

/// Mostly small, sometimes any.
static uint32_t kit_size(struct kit_input *input, uint32_t usual) {
  uint32_t value = kit_number(input);
  return value >> 28 == 15 ? value << 4 : value % usual;
}

static void kit_require(bool isTrue, const char *what) {
  if (isTrue) return;
  fprintf(stderr, "broken: %s\n", what);
  abort();
}
