// The common part of the programs of the notification rows of `framebus bench link`: the server of
// a turn.

#ifndef LINK_KIT_H
#define LINK_KIT_H

#include <RingKit.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Starts nats-server with JetStream on a port of 127.0.0.1, and waits until it accepts
/// connections. It ends with this program.
/// - Returns: its port.
int link_start_server(const ring_job *job);

/// The port of the turn's server, which the publisher has started.
int link_server_port(const ring_job *job);

/// Makes a directory in the job's directory; the caller frees its path.
char *link_make_directory(const ring_job *job, const char *name);

/// Appends a text to a file.
void link_append(const char *path, const char *text);

#ifdef __cplusplus
}
#endif

#endif
