// Eclipse iceoryx as a subject of `framebus bench ring`: its untyped C++ API, as in its own
// examples. A polling subscriber takes in a loop; a sleeping one uses a WaitSet. Needs iox-roudi
// with the memory pools of roudi.toml.

#include <iceoryx_posh/popo/untyped_publisher.hpp>
#include <iceoryx_posh/popo/untyped_subscriber.hpp>
#include <iceoryx_posh/popo/wait_set.hpp>
#include <iceoryx_posh/runtime/posh_runtime.hpp>
#include <iceoryx_versions.hpp>

#include <chrono>
#include <string>
#include <thread>
#include <unistd.h>

#include "RingKit.h"

static const iox::capro::ServiceDescription service{"FrameBus", "Bench", "Ring"};

static void pauseBriefly() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

static void publish(const ring_job &job) {
  iox::popo::PublisherOptions options;
  if (job.lossless) {
    options.subscriberTooSlowPolicy = iox::popo::ConsumerTooSlowPolicy::WAIT_FOR_CONSUMER;
  }
  iox::popo::UntypedPublisher publisher(service, options);
  const auto loan = [&] {
    void *slot = nullptr;
    publisher.loan(static_cast<uint32_t>(job.bytes))
        .and_then([&](void *payload) { slot = payload; })
        .or_else([](auto &) { ring_fail("cannot loan a chunk"); });
    return slot;
  };
  ring_publishing *run = ring_begin_publishing(&job);
  while (ring_next(run)) {
    void *slot = loan();
    ring_write(run, slot);
    publisher.publish(slot);
  }
  while (ring_unreleased(run)) {
    // A subscriber that has ended takes nothing, and the publisher would wait for it.
    if (!publisher.hasSubscribers()) continue;
    void *slot = loan();
    ring_write_end(slot);
    publisher.publish(slot);
  }
  ring_report_publishing(run);
}

static bool take(iox::popo::UntypedSubscriber &subscriber, ring_receiving *run, bool &goesOn) {
  bool found = false;
  subscriber.take().and_then([&](const void *frame) {
    found = true;
    goesOn = ring_take(run, frame);
    subscriber.release(frame);
  });
  return found;
}

static void receive(
    const ring_job &job, iox::popo::UntypedSubscriber &subscriber, ring_receiving *run) {
  bool goesOn = true;
  if (job.polls) {
    while (goesOn) {
      if (!take(subscriber, run, goesOn)) ring_relax();
    }
    return;
  }
  iox::popo::WaitSet<> waitset;
  waitset.attachState(subscriber, iox::popo::SubscriberState::HAS_DATA)
      .or_else([](auto) { ring_fail("cannot attach the subscriber to the wait set"); });
  while (goesOn) {
    waitset.wait();
    while (goesOn && take(subscriber, run, goesOn)) continue;
  }
}

static void subscribe(const ring_job &job) {
  iox::popo::SubscriberOptions options;
  options.queueCapacity = job.depth;
  if (job.lossless) options.queueFullPolicy = iox::popo::QueueFullPolicy::BLOCK_PRODUCER;
  iox::popo::UntypedSubscriber subscriber(service, options);
  while (subscriber.getSubscriptionState() != iox::SubscribeState::SUBSCRIBED) pauseBriefly();
  ring_receiving *run = ring_begin_receiving(&job);
  if (!ring_idles(run)) receive(job, subscriber, run);
  subscriber.unsubscribe();
  ring_report_receiving(run);
}

int main(int count, char **arguments) {
  const ring_job job = ring_job_from(count, arguments);
  ring_print_version("iceoryx " ICEORYX_LATEST_RELEASE_VERSION);
  const std::string name = "ring-" + std::to_string(getpid());
  iox::runtime::PoshRuntime::initRuntime(
      iox::RuntimeName_t(iox::cxx::TruncateToCapacity, name.c_str()));
  if (job.publishes) {
    publish(job);
  } else {
    subscribe(job);
  }
  return 0;
}
