// What frames, streams and both sides say of themselves, in one process: each field arrives.
//
//   Descriptions ROOT GROUP
#include <unistd.h>

#include "Check.h"

static framebus_group *group;

static framebus_publisher *open_publisher(const char *name, const framebus_format *format) {
  framebus_publisher_options options = FRAMEBUS_PUBLISHER_OPTIONS_INIT;
  options.content = FRAMEBUS_CONTENT_WINDOW;
  framebus_publisher *publisher = NULL;
  EXPECT(framebus_publisher_open(group, name, format, &options, &publisher, &error), FRAMEBUS_OK);
  return publisher;
}

static framebus_subscriber *open_subscriber(const char *name) {
  framebus_subscriber *subscriber = NULL;
  EXPECT(framebus_subscriber_open(group, name, NULL, 0, NULL, &subscriber, &error), FRAMEBUS_OK);
  return subscriber;
}

static void publish(framebus_publisher *publisher, const framebus_metadata *metadata,
                    uint64_t byte_count) {
  framebus_slot slot = FRAMEBUS_SLOT_INIT;
  EXPECT(framebus_publisher_loan(publisher, 0, NULL, &slot, &error), FRAMEBUS_OK);
  memset(slot.bytes, 7, (size_t)slot.capacity);
  EXPECT(framebus_loan_publish(slot.loan, metadata, byte_count, NULL, &error), FRAMEBUS_OK);
}

static framebus_frame receive(framebus_subscriber *subscriber) {
  framebus_frame frame = FRAMEBUS_FRAME_INIT;
  EXPECT(framebus_subscriber_next(subscriber, FRAMEBUS_NEVER, NULL, &frame, &error), FRAMEBUS_OK);
  return frame;
}

static framebus_subscriber_status status_of(framebus_subscriber *subscriber) {
  framebus_subscriber_status status = {.size = sizeof status};
  EXPECT(framebus_subscriber_get_status(subscriber, &status, &error), FRAMEBUS_OK);
  return status;
}

static framebus_format colored(void) {
  framebus_format format = {.size = sizeof format};
  EXPECT(framebus_format_video(FRAMEBUS_NV12, 64, 32, &format, &error), FRAMEBUS_OK);
  format.rate_numerator = 30000;
  format.rate_denominator = 1001;
  format.color_primaries = 9;
  format.color_transfer = 16;
  format.color_matrix = 9;
  format.color_range = FRAMEBUS_RANGE_LIMITED;
  return format;
}

static void check_picture(framebus_publisher *publisher, framebus_subscriber *subscriber) {
  framebus_metadata sent = {.size = sizeof sent};
  EXPECT(framebus_metadata_now(&sent, &error), FRAMEBUS_OK);
  publish(publisher, &sent, FRAMEBUS_WHOLE);
  // The first frame is all new to its subscriber.
  framebus_lease_release(receive(subscriber).lease);
  sent.pts_ns = 123456789;
  sent.duration_ns = 33366666;
  sent.flags = FRAMEBUS_FLAG_DROPPABLE | FRAMEBUS_FLAG_PROTECTED;
  sent.orientation = 6;
  sent.crop = (framebus_rect){2, 4, 40, 20};
  sent.damage_count = 2;
  sent.damage[0] = (framebus_rect){2, 4, 8, 10};
  sent.damage[1] = (framebus_rect){32, 6, 4, 2};
  publish(publisher, &sent, FRAMEBUS_WHOLE);
  framebus_frame frame = receive(subscriber);
  EXPECT(frame.sequence, 2);
  EXPECT(frame.pts_ns, 123456789);
  EXPECT(frame.flags & sent.flags, sent.flags);
  framebus_metadata metadata = {.size = sizeof metadata};
  EXPECT(framebus_lease_metadata(frame.lease, &metadata, &error), FRAMEBUS_OK);
  EXPECT(metadata.captured_at_ns, sent.captured_at_ns);
  EXPECT(metadata.duration_ns, 33366666);
  EXPECT(metadata.orientation, 6);
  EXPECT(memcmp(&metadata.crop, &sent.crop, sizeof sent.crop), 0);
  EXPECT(metadata.damage_count, 2);
  EXPECT(memcmp(metadata.damage, sent.damage, 2 * sizeof *sent.damage), 0);
  framebus_format format = {.size = sizeof format}, expected = colored();
  EXPECT(framebus_lease_format(frame.lease, &format, &error), FRAMEBUS_OK);
  EXPECT(memcmp(&format, &expected, sizeof format), 0);
  EXPECT(framebus_lease_release(frame.lease), FRAMEBUS_OK);
}

// A subscriber of the newest frame: what it never received is counted, by its cause.
static void check_drops(framebus_publisher *publisher, framebus_subscriber *subscriber) {
  for (int i = 0; i < 5; i++) publish(publisher, NULL, FRAMEBUS_WHOLE);
  framebus_frame frame = receive(subscriber);
  EXPECT(frame.dropped_before, 4);
  EXPECT(framebus_lease_release(frame.lease), FRAMEBUS_OK);
  framebus_subscriber_status status = status_of(subscriber);
  EXPECT(status.received_count, 3);
  EXPECT(status.dropped_count, 4);
  EXPECT(status.drops[FRAMEBUS_DROP_LAPPED] + status.drops[FRAMEBUS_DROP_PASSED_OVER], 4);
  EXPECT(status.lag_frames, 0);
  EXPECT(status.content, FRAMEBUS_CONTENT_WINDOW);
  EXPECT(status.granted_leases, 1);
}

static void check_both_sides(framebus_publisher *publisher, framebus_subscriber *subscriber) {
  EXPECT(framebus_publisher_set_application(publisher, "org.example.Paint", &error), FRAMEBUS_OK);
  EXPECT(framebus_publisher_pause(publisher, FRAMEBUS_PAUSE_TRANSITION, &error), FRAMEBUS_OK);
  framebus_slot slot = FRAMEBUS_SLOT_INIT;
  EXPECT_ERROR(framebus_publisher_loan(publisher, 0, NULL, &slot, &error), FRAMEBUS_ERROR_PAUSED);
  framebus_frame frame = FRAMEBUS_FRAME_INIT;
  EXPECT(framebus_subscriber_next(subscriber, 0, NULL, &frame, &error), FRAMEBUS_TIMED_OUT);
  framebus_subscriber_status status = status_of(subscriber);
  EXPECT(status.pause_reason, FRAMEBUS_PAUSE_TRANSITION);
  EXPECT(framebus_publisher_resume(publisher, &error), FRAMEBUS_OK);
  EXPECT(framebus_subscriber_set_demand(subscriber, 32, 16, 15, 1, &error), FRAMEBUS_OK);
  EXPECT(framebus_subscriber_set_utilization(subscriber, 0.5, &error), FRAMEBUS_OK);
  framebus_publisher_status sides = {.size = sizeof sides};
  EXPECT(framebus_publisher_get_status(publisher, &sides, &error), FRAMEBUS_OK);
  EXPECT(sides.published_count, 7);
  EXPECT(sides.join_count, 1);
  EXPECT(sides.subscriber_count, 1);
  EXPECT(sides.demanded_width * 100 + sides.demanded_height, 3216);
  EXPECT(sides.demanded_rate_numerator, 15 * sides.demanded_rate_denominator);
}

static void check_list(void) {
  framebus_streams *streams = NULL;
  EXPECT(framebus_streams_open(group, framebus_after_ns(60000000000), &streams, &error),
         FRAMEBUS_OK);
  EXPECT(framebus_streams_count(streams), 2);
  framebus_stream_status status = {.size = sizeof status};
  framebus_format format = {.size = sizeof format}, expected = colored();
  EXPECT(framebus_streams_get(streams, 0, &status, &error), FRAMEBUS_OK);
  EXPECT(strcmp(status.name, "picture"), 0);
  EXPECT(status.state, FRAMEBUS_STATE_LIVE);
  EXPECT(status.published_count, 7);
  EXPECT(status.publisher_pid, getpid());
  EXPECT(status.subscriber_count, 1);
  EXPECT(status.has_format, 1);
  EXPECT(framebus_streams_format(streams, 0, &format, &error), FRAMEBUS_OK);
  EXPECT(memcmp(&format, &expected, sizeof format), 0);
  EXPECT(framebus_streams_get(streams, 1, &status, &error), FRAMEBUS_OK);
  EXPECT(strcmp(status.name, "sound"), 0);
  EXPECT_ERROR(framebus_streams_get(streams, 2, &status, &error), FRAMEBUS_ERROR_ARGUMENT);
  EXPECT(framebus_streams_close(streams), FRAMEBUS_OK);
}

// Sound, received by copying.
static void check_sound(framebus_publisher *publisher, framebus_subscriber *subscriber) {
  publish(publisher, NULL, 480 * 4);
  unsigned char bytes[480 * 4] = {0};
  framebus_frame frame = FRAMEBUS_FRAME_INIT;
  EXPECT_ERROR(framebus_subscriber_copy_next(subscriber, bytes, 100, &frame, &error),
               FRAMEBUS_ERROR_LIMIT);
  EXPECT(frame.byte_count, sizeof bytes);
  EXPECT(framebus_subscriber_copy_next(subscriber, bytes, sizeof bytes, &frame, &error),
         FRAMEBUS_OK);
  EXPECT(frame.lease == NULL && frame.bytes == bytes && bytes[sizeof bytes - 1] == 7, 1);
  framebus_format format = {.size = sizeof format};
  EXPECT(framebus_subscriber_copied_format(subscriber, &format, &error), FRAMEBUS_OK);
  EXPECT(format.kind, FRAMEBUS_KIND_MIC_AUDIO);
  EXPECT(format.fourcc, FRAMEBUS_PCM);
  EXPECT(format.sample_format, FRAMEBUS_S16LE);
  EXPECT(format.sample_rate, 48000);
  EXPECT(format.channel_count, 2);
  EXPECT(format.channel_mask, 3);
  EXPECT(format.is_planar, 0);
}

int main(int count, char **arguments) {
  if (count < 3) return 2;
  group = open_group(arguments[1], arguments[2]);
  framebus_format picture = colored(), sound = {.size = sizeof sound};
  EXPECT(framebus_format_audio(FRAMEBUS_KIND_MIC_AUDIO, FRAMEBUS_S16LE, 48000, 2, 960, &sound,
                               &error), FRAMEBUS_OK);
  sound.channel_mask = 3;
  framebus_publisher *pictures = open_publisher("picture", &picture);
  framebus_publisher *sounds = open_publisher("sound", &sound);
  framebus_subscriber *viewer = open_subscriber("picture"), *listener = open_subscriber("sound");
  check_picture(pictures, viewer);
  check_drops(pictures, viewer);
  check_both_sides(pictures, viewer);
  check_sound(sounds, listener);
  check_list();
  EXPECT(framebus_publisher_close(pictures, FRAMEBUS_END_FAILED, &error), FRAMEBUS_OK);
  framebus_frame frame = FRAMEBUS_FRAME_INIT;
  EXPECT(framebus_subscriber_next(viewer, FRAMEBUS_NEVER, NULL, &frame, &error), FRAMEBUS_FINISHED);
  EXPECT(status_of(viewer).end_reason, FRAMEBUS_END_FAILED);
  framebus_subscriber_close(viewer);
  framebus_subscriber_close(listener);
  framebus_publisher_close(sounds, FRAMEBUS_END_ENDED, NULL);
  framebus_group_close(group);
  printf("%d checks\n", checks);
}
