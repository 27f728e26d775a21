/* What the processes of a group share besides frames: the C interface of FrameBus, part 2. Results,
 * wrong arguments, structures, waiting and fork(2) are as in framebus.h. All calls here may be made
 * on any thread, at the same time as others, while nobody closes their handle.
 */
#ifndef FRAMEBUS_GROUP_H
#define FRAMEBUS_GROUP_H

#include "framebus.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A role is "host", "capture", "extension" or one that the group's manifest names; this user must
 * have it, else FRAMEBUS_ERROR_PERMISSION. */

/* ---- Notifications: names that processes post and observe ---- */

typedef struct framebus_notifications framebus_notifications;
typedef struct framebus_observation framebus_observation;

int framebus_notifications_open(framebus_group *group, const char *role,
                                framebus_notifications **notifications, framebus_error *error);
/* Its observations stay. */
int framebus_notifications_close(framebus_notifications *notifications);

/* Posts a name, 1 to 512 bytes of UTF-8, to its observers; there need not be any. Never waits for
 * an observer. A post is counted and never lost; posts that come faster than an observer takes them
 * are one delivery. total_count (may be NULL) becomes the number of posts of this name. */
int framebus_notifications_post(framebus_notifications *notifications, const char *name,
                                uint64_t *total_count, framebus_error *error);
/* A name has a state of 64 bits, 0 at first, whose meaning its users define. Setting it notifies
 * nobody: post afterwards. */
int framebus_notifications_get_state(framebus_notifications *notifications, const char *name,
                                     uint64_t *state, framebus_error *error);
int framebus_notifications_set_state(framebus_notifications *notifications, const char *name,
                                     uint64_t state, framebus_error *error);

typedef struct framebus_delivery {
  size_t size;
  uint64_t total_count;     /* posts of the name until now */
  uint64_t coalesced_count; /* posts in this delivery */
  uint64_t state;
  int32_t poster_pid; /* of a single post; 0 if unknown. Do not pass it to kill(2) */
  uint32_t poster_uid;
  uint32_t has_poster; /* 1: the kernel told the two above */
  uint32_t is_reset;   /* 1: counting began anew, as after the run directory was removed */
} framebus_delivery;

int framebus_observation_open(framebus_notifications *notifications, const char *name,
                              framebus_observation **observation, framebus_error *error);
int framebus_observation_close(framebus_observation *observation);
/* Readable from a post until framebus_observation_next took it. Do not read or close it. Returns a
 * negative error otherwise. */
int framebus_observation_descriptor(framebus_observation *observation);
/* Takes the next delivery, waiting for it: OK, TIMED_OUT, STOPPED. */
int framebus_observation_next(framebus_observation *observation, uint64_t deadline_ns,
                              framebus_stop *stop, framebus_delivery *delivery,
                              framebus_error *error);

/* ---- Settings: typed values that all members see at once ---- */

typedef struct framebus_settings framebus_settings;
typedef struct framebus_settings_observation framebus_settings_observation;

enum { /* framebus_settings_get_type */
  FRAMEBUS_TYPE_BOOL = 1,
  FRAMEBUS_TYPE_INTEGER = 2,
  FRAMEBUS_TYPE_DOUBLE = 3,
  FRAMEBUS_TYPE_TEXT = 4,
  FRAMEBUS_TYPE_BYTES = 5,
  FRAMEBUS_TYPE_OTHER = 6 /* dates, URLs, arrays and dictionaries, which C cannot read */
};

/* Opens a suite, which need not exist. suite: NULL for the one with the group's name. */
int framebus_settings_open(framebus_group *group, const char *suite, framebus_settings **settings,
                           framebus_error *error);
int framebus_settings_close(framebus_settings *settings);

/* Readers make no system call while nothing changes. NOT_FOUND: the key is not set. TYPE: it has
 * another type; nothing is converted. *value is stored only with FRAMEBUS_OK. */
int framebus_settings_get_type(framebus_settings *settings, const char *key, uint32_t *type,
                               framebus_error *error);
int framebus_settings_get_bool(framebus_settings *settings, const char *key, int *value,
                               framebus_error *error);
int framebus_settings_get_integer(framebus_settings *settings, const char *key, int64_t *value,
                                  framebus_error *error);
int framebus_settings_get_double(framebus_settings *settings, const char *key, double *value,
                                 framebus_error *error);
/* Copies a text with a zero byte behind it, or bytes. *length becomes its length without the zero
 * byte, also with LIMIT: then the buffer is too small, and unchanged. capacity may be 0. */
int framebus_settings_get_text(framebus_settings *settings, const char *key, char *buffer,
                               size_t capacity, size_t *length, framebus_error *error);
int framebus_settings_get_bytes(framebus_settings *settings, const char *key, void *buffer,
                                size_t capacity, size_t *length, framebus_error *error);

/* A change is atomic and survives this process when the call returns; a power cut, after
 * framebus_settings_synchronize. They wait up to 5 s for other writers, then BUSY. A key that looks
 * like a secret is ARGUMENT: seal it as a credential. */
int framebus_settings_set_bool(framebus_settings *settings, const char *key, int value,
                               framebus_error *error);
int framebus_settings_set_integer(framebus_settings *settings, const char *key, int64_t value,
                                  framebus_error *error);
int framebus_settings_set_double(framebus_settings *settings, const char *key, double value,
                                 framebus_error *error);
int framebus_settings_set_text(framebus_settings *settings, const char *key, const char *value,
                               framebus_error *error);
int framebus_settings_set_bytes(framebus_settings *settings, const char *key, const void *bytes,
                                size_t count, framebus_error *error);
int framebus_settings_remove(framebus_settings *settings, const char *key, framebus_error *error);
int framebus_settings_synchronize(framebus_settings *settings, framebus_error *error);

/* Observes one key, or with NULL every key. */
int framebus_settings_observe(framebus_settings *settings, const char *key,
                              framebus_settings_observation **observation, framebus_error *error);
int framebus_settings_observation_close(framebus_settings_observation *observation);
/* Readable while there are changed keys to take. Do not read or close it. */
int framebus_settings_observation_descriptor(framebus_settings_observation *observation);
#define FRAMEBUS_MAXIMUM_KEY_BYTES 512
/* Takes a key whose value changed, with a zero byte behind it: OK, TIMED_OUT, STOPPED; LIMIT if
 * capacity is at most its length. Changes in quick succession are one. */
int framebus_settings_observation_next(framebus_settings_observation *observation,
                                       uint64_t deadline_ns, framebus_stop *stop, char *key,
                                       size_t capacity, framebus_error *error);

/* ---- Log: lines that outlive the process, merged for all members ---- */

typedef struct framebus_log framebus_log;

enum {
  FRAMEBUS_LOG_TRACE = 1,
  FRAMEBUS_LOG_DEBUG = 2,
  FRAMEBUS_LOG_INFO = 3,
  FRAMEBUS_LOG_NOTICE = 4,
  FRAMEBUS_LOG_WARNING = 5,
  FRAMEBUS_LOG_ERROR = 6,
  FRAMEBUS_LOG_CRITICAL = 7
};

typedef struct framebus_log_field { /* a key and a value beside the message */
  const char *key;
  const char *value;
  uint32_t is_private; /* 1: an exported log does not show the value */
  uint32_t reserved;   /* 0 */
} framebus_log_field;

/* Begins the log of this process, of lines from a level on; 0 is FRAMEBUS_LOG_INFO. A process needs
 * one log. */
int framebus_log_open(framebus_group *group, const char *role, uint32_t minimum_level,
                      framebus_log **log, framebus_error *error);
/* Whether lines of a level are written: 1 or 0, or a negative error. */
int framebus_log_writes(framebus_log *log, uint32_t level);
/* Appends a line: no system call, never waits; when the memory is full the line is dropped, and the
 * log says how many were. label: the part of the program, NULL for none. fields: NULL with count 0.
 * Other members can read the line when this returns, even if the process then dies. */
int framebus_log_append(framebus_log *log, uint32_t level, const char *label, const char *message,
                        const framebus_log_field *fields, size_t field_count,
                        framebus_error *error);
/* Waits until all lines appended before survive a power cut. OK or TIMED_OUT. */
int framebus_log_flush(framebus_log *log, uint64_t deadline_ns, framebus_error *error);
/* Saves all lines and ends the log. The handle ends in any case: after TIMED_OUT the lines are in
 * memory that the next log of this user saves. */
int framebus_log_close(framebus_log *log, uint64_t deadline_ns, framebus_error *error);

/* ---- Semaphores ---- */

typedef struct framebus_semaphore framebus_semaphore;

/* Creates a semaphore of the group; EXISTS if there is one. is_recoverable: 1 frees the permits of
 * a process that dies, or closes its handle; initial_value is at most 1024 then. */
int framebus_semaphore_create(framebus_group *group, const char *name, uint32_t initial_value,
                              uint32_t is_recoverable, framebus_semaphore **semaphore,
                              framebus_error *error);
/* NOT_FOUND if there is none. */
int framebus_semaphore_open(framebus_group *group, const char *name,
                            framebus_semaphore **semaphore, framebus_error *error);
/* Removes it: present waits end with NOT_FOUND. */
int framebus_semaphore_remove(framebus_group *group, const char *name, framebus_error *error);
int framebus_semaphore_close(framebus_semaphore *semaphore);
/* Takes a permit, sleeping until there is one: OK, TIMED_OUT, STOPPED. */
int framebus_semaphore_wait(framebus_semaphore *semaphore, uint64_t deadline_ns,
                            framebus_stop *stop, framebus_error *error);
/* A descriptor for poll(2): framebus_semaphore_wait with TIMED_OUT makes it unreadable until there
 * is a permit, also one of a process that died, or the semaphore is removed. Nothing is taken, and
 * others may be faster: call with deadline 0 until that returns TIMED_OUT. The first call starts a
 * thread; while it waits, it wakes up four times a second. Do not read or close the descriptor; it
 * lives as long as the handle. Else a negative error. */
int framebus_semaphore_descriptor(framebus_semaphore *semaphore, framebus_error *error);
int framebus_semaphore_post(framebus_semaphore *semaphore, framebus_error *error);
int framebus_semaphore_get_value(framebus_semaphore *semaphore, uint32_t *value,
                                 framebus_error *error);

/* ---- Credentials ---- */

typedef struct framebus_secret framebus_secret;

/* Opens one credential as a role, into memory that is locked against swapping, left out of core
 * dumps, between guard pages, zeros in a forked child, and wiped by framebus_secret_close. The
 * access is recorded in the store's audit log. passphrase: of the role's key, NULL if it has none;
 * wipe your copy. PERMISSION: it was not granted to the role, or the passphrase is wrong; LIMIT:
 * ulimit -l. */
int framebus_secret_open(framebus_group *group, const char *role, const char *service,
                         const char *account, const char *passphrase, framebus_secret **secret,
                         framebus_error *error);
/* The secret's bytes, which must not be written; without a zero byte behind them. They stay until
 * the secret is closed. */
int framebus_secret_get(framebus_secret *secret, const void **bytes, size_t *count,
                        framebus_error *error);
int framebus_secret_close(framebus_secret *secret);

#ifdef __cplusplus
}
#endif

#endif
