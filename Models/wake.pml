/* The semaphore, the event descriptor and the wake thread (Subscriber.sleepOnSemaphore and
   pollAndArm, Doorbell, EventSource, Bells, Waker), with one sleeper, who waits in one of both ways
   from beginning to end. Sleeping on the futex, and for the bell as tasks do, is in `sleep`.

   Invariant, checked when no process can move (`timeout`), as in `sleep`: every sleeper has
   received the newest frame, and its publisher neither finished nor died.

   The publishing thread rings by itself, or leaves that to the wake thread, as it likes each time;
   it must leave it if the wake thread is just ringing. What both share lies in one process and is
   sequentially consistent. A ring is a system call: who hears it knows what the ringer knew. On the
   event descriptor each look takes one frame, and then its user waits again.

   Bounds: N frames, TURNS sleeps (who has had them leaves the race); the publisher then goes silent
   or finishes, and may die between any two steps. ALONE: there is no wake thread. CALM: the
   publisher lives. KIND: SEMAPHORE or BELL, the way to wait.

   Rules that a define breaks: NO_SLEEP_FENCE, NO_WAKE_FENCE (Dekker, both sides), REGISTERED_LATE
   (the doorbell's word compared before it knows of the semaphore), NO_OWN_POST (the doorbell does
   not post), SILENCE_LATE (the descriptor silenced after the last look), NO_RAISE (a frame found by
   the last look, and the descriptor left silent), BUSY_SKIPPED (not rung, as somebody is just
   ringing), CLEARED_LATE (a request forgotten after it was met), LATE_LOOKED_EARLY (the wake thread
   looks for requests only before it says that it is idle). */
#ifndef N
#define N 2
#endif
#ifndef TURNS
#define TURNS 2
#endif
#define P 3                            /* publishing thread, subscriber, wake thread */
#define HL 10
#define CURSOR 0
#define FINISHED 1
#define WAITING 2
#define LOCS 3
#define OWNER(x) ((x) < 2 -> 0 : 1)
#include "memory.h"

#define NOT 0
#define SEMAPHORE 1
#define BELL 2

bool may_die, dead, gone, ended;
byte kind, position;
byte bell;                             /* Doorbell.word */
bool registered;                       /* the doorbell's waiter is the semaphore */
byte posts;                            /* the semaphore's count */
bool readable;                         /* the event descriptor */
bool late, idle, resting, ringing;     /* the wake thread's request, and what it does */
byte requests;

/* By the publishing or the wake thread. */
inline ring(me) {
  atomic {
    tells(me, 1);
    if
    :: kind == SEMAPHORE -> if :: posts < 3 -> posts++ :: else fi
    :: else -> readable = true
    fi
  }
}
inline hand_over() {
  atomic { full_fence(0); late = true };
  requests++;
  if :: idle -> resting = false :: else fi
}
inline wake_sleeper() {
#ifndef NO_WAKE_FENCE
  full_fence(0);
#endif
  load(0, WAITING, RLX, how);
  if
  :: how == NOT
  :: how != NOT && ringing ->
#ifndef BUSY_SKIPPED
     hand_over()
#endif
     skip
  :: how != NOT && !ringing -> ring(0)
#ifndef ALONE
  :: how != NOT -> hand_over()
#endif
  fi;
  how = 0
}
proctype publisher() {
  byte n = 1, how;
  {
    do
    :: n > N -> break
    :: else -> store(0, CURSOR, n, REL); wake_sleeper(); n++
    od;
    if
    :: skip                            /* silent */
    :: store(0, FINISHED, 1, REL); wake_sleeper()
    fi
  } unless { may_die -> dead = true }
}
proctype killer() { if :: may_die = true :: skip fi }

/* Its process dies with the publishing thread. */
proctype wake_thread() {
  byte request;
  {
    end: do
    :: true ->
#ifndef LATE_LOOKED_EARLY
       request = requests;
#endif
       if
       :: late ->
#ifndef CLEARED_LATE
          atomic { late = false; tells(0, 2) }
#endif
          ringing = true;
          ring(2);
          ringing = false
#ifdef CLEARED_LATE
          ; atomic { late = false; tells(0, 2) }
#endif
       :: else ->
#ifdef LATE_LOOKED_EARLY
          request = requests;
#endif
          idle = true;
          if
#ifndef LATE_LOOKED_EARLY
          :: late
#endif
          :: else -> atomic { resting = (requests == request) }
          fi;
          end_resting: !resting;
          idle = false
       fi
    od
  } unless { dead }
}

/* The event loop of the subscriber's process. */
proctype loop() {
  end: dead && !gone ->
  atomic { full_fence(0); tells(0, 1) }
  gone = true;
  bell++;
  atomic {
    readable = true;
#ifndef NO_OWN_POST
    if :: registered -> posts++ :: else fi
#endif
  }
}

inline look() {
  was_gone = gone;
  load(1, FINISHED, ACQ, finished);
  load(1, CURSOR, ACQ, cursor);
  atomic {
    found = cursor > position;
    if
    :: found -> position++
    :: !found && (finished || was_gone) ->
       /* What was published before the end is received before the end is seen. */
       assert(position == NEWEST(CURSOR));
       ended = true
    :: else
    fi;
    cursor = 0; finished = 0; was_gone = false
  }
}
inline announce(how) {
  store(1, WAITING, how, RLX);
#ifndef NO_SLEEP_FENCE
  full_fence(1)
#endif
}

proctype on_semaphore() {
  byte rung, cursor, finished, turns;
  bool found, was_gone, stays;
  do
  :: ended -> break
  :: else ->
     rung = bell;
     look();
     if
     :: found || ended
     :: !found && !ended && turns == TURNS -> ended = true
     :: !found && !ended && turns < TURNS ->
        turns++;
        announce(SEMAPHORE);
        load(1, CURSOR, ACQ, cursor);
        load(1, FINISHED, ACQ, finished);
        if
        :: cursor > position || finished
        :: else ->
#ifdef REGISTERED_LATE
           stays = (bell == rung);
           registered = true;
#else
           atomic { registered = true; stays = (bell == rung) }
#endif
           if
           :: stays -> end_asleep: atomic { posts > 0 -> posts-- }
           :: else
           fi;
           registered = false
        fi;
        atomic { cursor = 0; finished = 0; stays = false };
        store(1, WAITING, NOT, RLX)
     fi;
     rung = 0
  od
}

proctype on_descriptor() {
  byte cursor, finished, turns;
  bool found, was_gone;
  do
  :: ended -> break
  :: !ended && turns == TURNS + N -> ended = true
  :: !ended && turns < TURNS + N ->
     end_asleep: readable;
     turns++;
     look();
     if
     :: found || ended
     :: else ->
#ifndef SILENCE_LATE
        readable = false;
#endif
        announce(BELL);
        look();
#ifdef SILENCE_LATE
        readable = false;
#endif
        if
#ifndef NO_RAISE
        :: found -> readable = true
#endif
        :: else
        fi
     fi
  od
}

active proctype monitor() {
  end: timeout ->
  assert(ended || (!dead && !NEWEST(FINISHED) && position == NEWEST(CURSOR)))
}

init {
  atomic {
    start_memory();
    run publisher();
#ifndef ALONE
    run wake_thread();
#endif
#ifndef CALM
    run killer();
    run loop();
#endif
    kind = KIND;
    if
    :: kind == SEMAPHORE -> run on_semaphore()
    :: else -> readable = true; run on_descriptor()
    fi
  }
}
