// What the test programs in C share.
#include <framebus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static framebus_error error = FRAMEBUS_ERROR_INIT;
static _Atomic int checks;

// Ends the program unless a call returned what is expected.
static inline void expect_line(int line, const char *text, long long found, long long wanted) {
  checks++;
  if (found == wanted) return;
  printf("line %d: %s is %lld, not %lld (%s)\n", line, text, found, wanted, error.message);
  exit(1);
}
#define EXPECT(call, wanted) expect_line(__LINE__, #call, (long long)(call), (long long)(wanted))

// The same for an error, whose message must say something.
static inline void expect_error(int line, const char *text, int found, int wanted) {
  expect_line(line, text, found, wanted);
  expect_line(line, "error.code", error.code, wanted);
  expect_line(line, "the message has a remedy", strlen(error.message) > 20, 1);
  memset(error.message, 0, sizeof error.message);
}
#define EXPECT_ERROR(call, wanted) expect_error(__LINE__, #call, (call), (wanted))

static inline framebus_group *open_group(const char *root, const char *id) {
  framebus_group *group = NULL;
  EXPECT(framebus_group_open(id, root, &group, &error), 0);
  return group;
}

static inline framebus_format picture(uint32_t width, uint32_t height) {
  framebus_format format = {.size = sizeof format};
  EXPECT(framebus_format_video(FRAMEBUS_XRGB8888, width, height, &format, &error), 0);
  return format;
}

// Every word of a frame is its number.
static inline void fill(const framebus_slot *slot, uint64_t bytes, uint64_t number) {
  uint64_t *words = (uint64_t *)slot->bytes;
  for (uint64_t index = 0; index < bytes / 8; index++) words[index] = number;
}

// The number of a frame; ends the program if the frame is torn.
static inline uint64_t number_of(const framebus_frame *frame) {
  const uint64_t *words = (const uint64_t *)frame->bytes;
  for (uint64_t index = 0; index < frame->byte_count / 8; index++) {
    if (words[index] == words[0] && words[index] != 0) continue;
    printf("TORN sequence %llu word %llu\n", (unsigned long long)frame->sequence,
           (unsigned long long)index);
    exit(3);
  }
  return words[0];
}
