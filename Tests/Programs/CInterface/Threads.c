// Frames are received on one thread and released on four others, in any order, while the publisher
// goes on and after the subscriber is closed. At the end they give back the loans of a publisher
// that is closed already.
//
//   Threads ROOT GROUP FRAMES
#include <pthread.h>

#include "Check.h"

enum { RELEASERS = 4, LEASES = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static framebus_frame waiting[LEASES];
static int waiting_count, is_over;
static uint64_t released;

static framebus_publisher *publisher;
static framebus_stop *stop;

static void *publish(void *unused) {
  (void)unused;
  for (uint64_t number = 1;; number++) {
    framebus_slot slot = FRAMEBUS_SLOT_INIT;
    int result = framebus_publisher_loan(publisher, FRAMEBUS_NEVER, stop, &slot, &error);
    pthread_mutex_lock(&lock);
    int ends = is_over;
    pthread_mutex_unlock(&lock);
    if (ends && result == FRAMEBUS_OK) result = framebus_loan_abandon(slot.loan);
    if (ends) return NULL;
    EXPECT(result, FRAMEBUS_OK);
    fill(&slot, slot.capacity, number);
    EXPECT(framebus_loan_publish(slot.loan, NULL, FRAMEBUS_WHOLE, NULL, &error), 0);
  }
}

static void *release(void *argument) {
  size_t turn = (size_t)argument;
  for (;;) {
    pthread_mutex_lock(&lock);
    while (waiting_count == 0 && !is_over) pthread_cond_wait(&changed, &lock);
    if (waiting_count == 0) break;
    size_t index = turn++ % (size_t)waiting_count;
    framebus_frame frame = waiting[index];
    waiting[index] = waiting[--waiting_count];
    pthread_mutex_unlock(&lock);
    framebus_metadata metadata = {.size = sizeof metadata};
    number_of(&frame);
    framebus_lease_metadata(frame.lease, &metadata, NULL);
    int result = framebus_lease_release(frame.lease);
    pthread_mutex_lock(&lock);
    EXPECT(result, 0);
    EXPECT(metadata.orientation, 1);
    released++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

static framebus_slot loans[LEASES];

static void *give_back(void *argument) {
  for (size_t index = (size_t)argument; index < LEASES; index += RELEASERS) {
    fill(&loans[index], loans[index].capacity, index);
    int result = framebus_loan_abandon(loans[index].loan);
    pthread_mutex_lock(&lock);
    EXPECT(result, 0);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

static void check_loans_of_a_closed_publisher(framebus_group *group) {
  framebus_format format = picture(64, 64);
  framebus_publisher_options options = FRAMEBUS_PUBLISHER_OPTIONS_INIT;
  options.maximum_loans = LEASES;
  EXPECT(framebus_publisher_open(group, "loans", &format, &options, &publisher, &error), 0);
  for (int index = 0; index < LEASES; index++) {
    loans[index] = (framebus_slot)FRAMEBUS_SLOT_INIT;
    EXPECT(framebus_publisher_loan(publisher, 0, NULL, &loans[index], &error), 0);
  }
  EXPECT(framebus_publisher_close(publisher, FRAMEBUS_END_ENDED, &error), 0);
  pthread_t threads[RELEASERS];
  for (size_t index = 0; index < RELEASERS; index++) {
    pthread_create(&threads[index], NULL, give_back, (void *)index);
  }
  for (int index = 0; index < RELEASERS; index++) pthread_join(threads[index], NULL);
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  uint64_t wanted = strtoull(arguments[3], NULL, 10);
  framebus_group *group = open_group(arguments[1], arguments[2]);
  framebus_format format = picture(64, 64);
  EXPECT(framebus_publisher_open(group, "threads", &format, NULL, &publisher, &error), 0);
  framebus_subscriber_options options = FRAMEBUS_SUBSCRIBER_OPTIONS_INIT;
  options.leases = LEASES;
  framebus_subscriber *subscriber;
  EXPECT(framebus_subscriber_open(group, "threads", &options, 0, NULL, &subscriber, &error), 0);
  EXPECT(framebus_stop_open(&stop, &error), 0);
  pthread_t threads[RELEASERS + 1];
  pthread_create(&threads[RELEASERS], NULL, publish, NULL);
  for (size_t index = 0; index < RELEASERS; index++) {
    pthread_create(&threads[index], NULL, release, (void *)index);
  }
  for (uint64_t received = 0; received < wanted; received++) {
    framebus_frame frame = FRAMEBUS_FRAME_INIT;
    framebus_error own = FRAMEBUS_ERROR_INIT;
    int result;
    while ((result = framebus_subscriber_next(subscriber, FRAMEBUS_NEVER, NULL, &frame, &own)) ==
           FRAMEBUS_ERROR_LIMIT) {
      pthread_mutex_lock(&lock);
      if (waiting_count == LEASES) pthread_cond_wait(&changed, &lock);
      pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    EXPECT(result, FRAMEBUS_OK);
    while (waiting_count == LEASES) pthread_cond_wait(&changed, &lock);
    waiting[waiting_count++] = frame;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
  }
  EXPECT(framebus_subscriber_close(subscriber), 0);
  pthread_mutex_lock(&lock);
  is_over = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  EXPECT(framebus_stop_raise(stop), 0);
  for (int index = 0; index <= RELEASERS; index++) pthread_join(threads[index], NULL);
  EXPECT(released, wanted);
  EXPECT(framebus_publisher_close(publisher, FRAMEBUS_END_ENDED, &error), 0);
  check_loans_of_a_closed_publisher(group);
  EXPECT(framebus_stop_close(stop), 0);
  EXPECT(framebus_group_close(group), 0);
  printf("%llu released\n", (unsigned long long)released);
}
