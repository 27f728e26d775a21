"""The Python package framebus as a subject of `framebus bench python`."""

import framebus
import numpy
from ring_kit import END, HEAD, Job, Publishing, Receiving, check_sum

job = Job("framebus, its wheel")
group = framebus.Group(root=job.directory)
if job.publishes:
    publisher = framebus.Publisher(group, "bench", framebus.Format.data(job.bytes))
    publishing = Publishing(job)
    loan_slot, pack_into = publisher.loan, HEAD.pack_into
    while publishing.next():
        loan = loan_slot()
        if job.fills:
            numpy.asarray(loan).view(numpy.uint64)[:] = publishing.number
        pack_into(loan, 0, publishing.stamp(), publishing.number)
        loan.publish()
    while publishing.unreleased():
        loan = loan_slot()
        pack_into(loan, 0, END, 0)
        loan.publish()
    publishing.report()
    publisher.close()
else:
    subscriber = framebus.Subscriber(group, "bench", start="next", wait="futex")
    receiving = Receiving(job)
    unpack_from, take = HEAD.unpack_from, receiving.take
    receive = subscriber.poll if job.polls else subscriber.receive
    while not job.idles:
        frame = receive()
        if frame is None:
            continue
        stamp, number = unpack_from(frame)
        if not take(stamp, number):
            break
        if job.fills:
            check_sum(numpy.asarray(frame).view(numpy.uint64), number)
    receiving.report()
