/* From hello to SEATED (StreamServer.admit, welcome, seat and drop, Rendezvous.attachment,
   PublisherLine, Publisher.waitForSubscriber): two subscribers and one seat, while the publisher
   waits for somebody to be there.

   Invariants:
   I1  when the publisher sees that somebody counts, a subscriber has answered its welcome, with its
       memory mapped;
   I2  nobody who counts is dropped but for its own end;
   I3  when nothing can move any more (`timeout`): the publisher sleeps only if nobody counts, and
       who has the seat is who is attached, and counts. No hello is without an answer.

   A hello here is the hello, the page and the answer that it is mapped: until then there is no
   seat, and nothing to give back. A hello that waits for a larger pool is one that comes later.

   A connection is the kernel's: what was sent before its end is read before its end. The control
   plane is one thread, so one of its handlers runs at a time. Its timeout may expire at any time
   after a welcome. Who was refused tries again when the seat is free.

   Bounds: each subscriber connects CONNECTIONS times. After its hello it may leave or stop for
   ever; it may find that it cannot map the memory; once attached it may leave or die.

   Rules that a define breaks: COUNTED_EARLY (with the welcome), ANSWERED_EARLY (before the memory
   is mapped), NO_TIMEOUT (a welcome that nobody answers stays), BLIND_TIMEOUT (it does not check
   who has answered), SEAT_KEPT (a seat that was left still counts), NO_NOTE (the publisher is not
   woken), LOOK_FIRST (it looks before it reads the word to sleep on), CHANGES_RELAXED (it reads
   that word without acquire). */
#ifndef CONNECTIONS
#define CONNECTIONS 1
#endif
#define P 2
#define SERVER 1
#define HL 18
#define SEATED 0
#define CHANGES 1
#define LOCS 2
#define OWNER(x) SERVER
#include "memory.h"

/* Connection c is of subscriber c % 2. */
#define COUNT (2 * CONNECTIONS)
#define NOBODY 255
bool hello[COUNT], answer[COUNT], ended[COUNT];    /* by the subscriber */
bool welcomed[COUNT], refused[COUNT], dropped[COUNT], counts[COUNT];      /* by the control plane */
bool busy;                                         /* in one of its handlers */
byte tenant = NOBODY;                              /* whose the seat is */
bool asleep, somebody, attached[2];

proctype publisher() {
  byte change, seated;
  do
  ::
#ifndef LOOK_FIRST
#ifdef CHANGES_RELAXED
     load(0, CHANGES, RLX, change);
#else
     load(0, CHANGES, ACQ, change);
#endif
#endif
     load(0, SEATED, ACQ, seated);
#ifdef LOOK_FIRST
     load(0, CHANGES, ACQ, change);
#endif
     if
     :: seated -> assert(somebody); break                          /* I1 */
     :: else -> atomic {
          full_fence(0);
          load(0, CHANGES, RLX, seated);
          asleep = (seated == change);
          seated = 0; change = 0
        }
        end_asleep: !asleep
     fi
  od
}

inline note() {
#ifndef NO_NOTE
  increment(SERVER, CHANGES, REL);
  atomic { full_fence(SERVER); asleep = false }
#else
  skip
#endif
}
inline count() {
  atomic { store(SERVER, SEATED, 1, REL); counts[c] = true }
  note()
}
/* The control plane's side of a connection. */
proctype line(byte c) {
  end: atomic { hello[c] && !busy -> busy = true };
  if
  :: tenant != NOBODY -> refused[c] = true; goto answered
  :: else
  fi;
  tenant = c;
#ifdef COUNTED_EARLY
  count();
#endif
  if
  :: ended[c] -> goto left                         /* The welcome cannot be sent. */
  :: atomic { !ended[c] -> welcomed[c] = true; busy = false }
  fi;
  end_waiting: do
  :: atomic { answer[c] && !counts[c] && !busy -> busy = true }
     count();
     busy = false
  :: atomic { ended[c] && (!answer[c] || counts[c]) && !busy -> busy = true; break }
#ifndef NO_TIMEOUT
#ifdef BLIND_TIMEOUT
  :: atomic { !busy -> busy = true; break }
#else
  :: atomic { !counts[c] && !busy -> busy = true; break }
#endif
#endif
  od;
  left: atomic {
    assert(!counts[c] || ended[c]);                                /* I2 */
    dropped[c] = true;
    tenant = NOBODY
  }
#ifndef SEAT_KEPT
  atomic { store(SERVER, SEATED, 0, REL); counts[c] = false }
#endif
  note();
  answered: busy = false
}

proctype subscriber(byte me) {
  byte c = me;
  do
  :: c >= COUNT -> break
  :: else ->
     hello[c] = true;
     if
     :: ended[c] = true; break
     :: break                                      /* Stopped. */
     :: skip
     fi;
     if
     :: refused[c] -> end_refused: tenant == NOBODY
     :: dropped[c]
     :: welcomed[c] ->
#ifdef ANSWERED_EARLY
        answer[c] = true;
#endif
        if
        :: skip
        :: ended[c] = true; break                  /* Cannot map it. */
        fi;
        atomic {
          if
          :: dropped[c]
          :: else -> answer[c] = true; somebody = true; attached[me] = true
          fi
        }
        if
        :: attached[me] -> atomic { ended[c] = true; attached[me] = false; break }
        :: skip
        fi;
        end_attached: atomic { dropped[c] -> attached[me] = false }
     fi;
     c = c + 2
  od
}

active proctype monitor() {
  end: timeout ->
  assert(!asleep || !NEWEST(SEATED));                              /* I3 */
  assert(NEWEST(SEATED) == (tenant != NOBODY));
  assert(tenant == NOBODY || counts[tenant]);
  assert(!attached[0] || (tenant != NOBODY && tenant % 2 == 0));
  assert(!attached[1] || (tenant != NOBODY && tenant % 2 == 1));
  assert(tenant == NOBODY || attached[tenant % 2])
}

init {
  byte c;
  atomic {
    start_memory();
    run publisher();
    do :: c < COUNT -> run line(c); c++ :: else -> break od;
    run subscriber(0);
    run subscriber(1)
  }
}
