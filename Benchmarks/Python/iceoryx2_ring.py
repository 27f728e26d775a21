"""iceoryx2's wheel as a subject of `framebus bench python`, by its documented calls."""

import ctypes
from importlib.metadata import version

import iceoryx2
import numpy
from ring_kit import END, HEAD, Job, Publishing, Receiving, check_sum

job = Job("iceoryx2 " + version("iceoryx2"))
iceoryx2.set_log_level(iceoryx2.LogLevel.Error)
node = iceoryx2.NodeBuilder.new().create(iceoryx2.ServiceType.Ipc)
# The directory is of this turn alone.
name = iceoryx2.ServiceName.new("framebus-bench" + job.directory.replace("/", "-"))
service = (
    node.service_builder(name)
    .publish_subscribe(iceoryx2.Slice[ctypes.c_uint8])
    .open_or_create()
)
event = node.service_builder(name).event().open_or_create()
if job.publishes:
    publisher = service.publisher_builder().initial_max_slice_len(job.bytes).create()
    notifier = event.notifier_builder().create()

    def publish(stamp, number: int) -> None:
        sample = publisher.loan_slice_uninit(job.bytes)
        slot = (ctypes.c_uint8 * job.bytes).from_address(sample.payload_ptr)
        if job.fills:
            numpy.frombuffer(slot, dtype=numpy.uint64)[:] = number
        HEAD.pack_into(slot, 0, stamp(), number)
        sample.assume_init().send()
        if not job.polls and not job.idles:
            notifier.notify()

    publishing = Publishing(job)
    while publishing.next():
        publish(publishing.stamp, publishing.number)
    while publishing.unreleased():
        publish(lambda: END, 0)
    publishing.report()
else:
    subscriber = service.subscriber_builder().create()
    listener = event.listener_builder().create()
    timeout = iceoryx2.Duration.from_secs(2)
    receiving = Receiving(job)
    while not job.idles:
        sample = subscriber.receive()
        if sample is None:
            if not job.polls:
                listener.timed_wait(timeout)
            continue
        view = sample.payload().as_memory_view()
        stamp, number = HEAD.unpack_from(view)
        goes_on = receiving.take(stamp, number)
        if goes_on and job.fills:
            check_sum(numpy.frombuffer(view, dtype=numpy.uint64), number)
        sample.delete()
        if not goes_on:
            break
    receiving.report()
