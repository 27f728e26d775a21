#include "CNATSGuard.h"

#include <string.h>

// The protocol: https://docs.nats.io/reference/reference-protocols/nats-protocol

static bool cut(struct fb_nats_guard *guard, const char *why) {
  guard->fault = why;
  return false;
}

static bool begins(const struct fb_nats_guard *guard, const char *word) {
  size_t count = strlen(word);
  return guard->line_count >= count && memcmp(guard->line, word, count) == 0;
}

static bool is(const struct fb_nats_guard *guard, const char *line) {
  return guard->line_count == strlen(line) && begins(guard, line);
}

/// A decimal number of at most 9 digits; -1 for anything else.
static int64_t number(const char *word, size_t count) {
  int64_t value = 0;
  if (count == 0 || count > 9) return -1;
  for (size_t at = 0; at < count; at++) {
    if (word[at] < '0' || word[at] > '9') return -1;
    value = value * 10 + (word[at] - '0');
  }
  return value;
}

/// MSG subject sid [reply] size, or HMSG subject sid [reply] header-size size.
static bool check_message(struct fb_nats_guard *guard, bool has_headers) {
  enum { WORDS = 6 };
  const char *words[WORDS];
  size_t counts[WORDS], count = 0, at = 0;
  // libnats would see two words where this check sees one.
  if (memchr(guard->line, '\t', guard->line_count) != NULL) {
    return cut(guard, "a message's line is malformed");
  }
  // nats-server puts two spaces before some sizes.
  while (at < guard->line_count) {
    size_t first = at;
    while (at < guard->line_count && guard->line[at] != ' ') at++;
    if (at > first) {
      if (count == WORDS) return cut(guard, "a message's line is malformed");
      words[count] = guard->line + first;
      counts[count++] = at - first;
    }
    while (at < guard->line_count && guard->line[at] == ' ') at++;
  }
  size_t least = has_headers ? 5 : 4;
  if (count != least && count != least + 1) return cut(guard, "a message's line is malformed");
  int64_t size = number(words[count - 1], counts[count - 1]);
  if (size > FB_NATS_PAYLOAD_BYTES) return cut(guard, "a message is too long");
  bool is_sound = size >= 0 && number(words[2], counts[2]) >= 0;
  if (has_headers) {
    int64_t head = number(words[count - 2], counts[count - 2]);
    is_sound = is_sound && head >= 0 && head <= size;
  }
  if (!is_sound) return cut(guard, "a message's line is malformed");
  guard->payload_left = (size_t)size + 2;
  return true;
}

/// Checks a line without its break.
static bool check_line(struct fb_nats_guard *guard) {
  bool is_first = guard->info_count == 0;
  if (begins(guard, "INFO ")) {
    if (++guard->info_count > FB_NATS_INFO_LINES) return cut(guard, "too many lines INFO");
    return true;
  }
  if (is_first) return cut(guard, "its first line is not INFO");
  if (is(guard, "PONG")) {
    guard->is_set_up = true;
    return true;
  }
  if (is(guard, "PING") || is(guard, "+OK") || begins(guard, "-ERR ")) return true;
  if (guard->is_set_up && begins(guard, "MSG ")) return check_message(guard, false);
  if (guard->is_set_up && begins(guard, "HMSG ")) return check_message(guard, true);
  return cut(guard, "a line is of no known kind");
}

static bool check_byte(struct fb_nats_guard *guard, char byte) {
  if (byte == '\n') {
    size_t count = guard->line_count;
    if (count == 0) return cut(guard, "a line is empty");
    // Of a longer line, only the beginning is kept.
    if (count <= FB_NATS_LINE_BYTES) {
      if (guard->line[count - 1] != '\r') return cut(guard, "a line ends without its break");
      guard->line_count--;
    }
    bool is_sound = check_line(guard);
    guard->line_count = 0;
    return is_sound;
  }
  if (byte == 0) return cut(guard, "a line has a zero byte");
  if (guard->line_count < FB_NATS_LINE_BYTES) {
    if (guard->line_count > 0 && guard->line[guard->line_count - 1] == '\r') {
      return cut(guard, "a line has a carriage return inside");
    }
    guard->line[guard->line_count] = byte;
  } else if (!begins(guard, "INFO ") || guard->line_count >= FB_NATS_INFO_BYTES) {
    return cut(guard, "a line is too long");
  }
  guard->line_count++;
  return true;
}

bool fb_nats_guard_check(struct fb_nats_guard *guard, const char *bytes, size_t count) {
  if (guard->fault != NULL) return false;
  for (size_t at = 0; at < count;) {
    if (guard->payload_left > 2) {
      size_t some = guard->payload_left - 2;
      if (some > count - at) some = count - at;
      guard->payload_left -= some;
      at += some;
    } else if (guard->payload_left > 0) {
      if (bytes[at++] != (guard->payload_left == 2 ? '\r' : '\n')) {
        return cut(guard, "a message is longer than its line says");
      }
      guard->payload_left--;
    } else {
      bool is_first = guard->info_count == 0;
      if (!check_byte(guard, bytes[at++])) return false;
      // libnats would drop what follows, and so count otherwise than this check.
      if (is_first && guard->info_count == 1 && at < count) {
        return cut(guard, "something follows its first line");
      }
    }
  }
  return true;
}
