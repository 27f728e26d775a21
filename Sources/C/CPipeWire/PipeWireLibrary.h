// The functions of libpipewire that are used, in a table that dlsym(3) fills: a machine without
// PipeWire captures everything else.
#pragma once

#include <pipewire/pipewire.h>

struct fb_pipewire_library {
  __typeof__(&pw_init) init;
  __typeof__(&pw_loop_new) loop_new;
  __typeof__(&pw_loop_destroy) loop_destroy;
  __typeof__(&pw_context_new) context_new;
  __typeof__(&pw_context_destroy) context_destroy;
  __typeof__(&pw_context_connect) context_connect;
  __typeof__(&pw_context_connect_fd) context_connect_fd;
  __typeof__(&pw_core_disconnect) core_disconnect;
  __typeof__(&pw_core_get_client) core_get_client;
  __typeof__(&pw_core_steal_fd) core_steal_fd;
  __typeof__(&pw_proxy_destroy) proxy_destroy;
  __typeof__(&pw_properties_new) properties_new;
  __typeof__(&pw_stream_new) stream_new;
  __typeof__(&pw_stream_destroy) stream_destroy;
  __typeof__(&pw_stream_add_listener) stream_add_listener;
  __typeof__(&pw_stream_connect) stream_connect;
  __typeof__(&pw_stream_update_params) stream_update_params;
  __typeof__(&pw_stream_dequeue_buffer) stream_dequeue_buffer;
  __typeof__(&pw_stream_queue_buffer) stream_queue_buffer;
  __typeof__(&pw_stream_set_active) stream_set_active;
  __typeof__(&pw_stream_trigger_process) stream_trigger_process;
  __typeof__(&pw_stream_get_state) stream_get_state;
  __typeof__(&pw_stream_get_node_id) stream_get_node_id;
  __typeof__(&pw_stream_get_time_n) stream_get_time_n;
  __typeof__(&pw_thread_loop_new) thread_loop_new;
  __typeof__(&pw_thread_loop_destroy) thread_loop_destroy;
  __typeof__(&pw_thread_loop_get_loop) thread_loop_get_loop;
  __typeof__(&pw_thread_loop_start) thread_loop_start;
  __typeof__(&pw_thread_loop_stop) thread_loop_stop;
  __typeof__(&pw_thread_loop_lock) thread_loop_lock;
  __typeof__(&pw_thread_loop_unlock) thread_loop_unlock;
};

/// - Returns: NULL if it cannot be loaded.
const struct fb_pipewire_library *fb_pipewire_library(void);
