/* Sleeping and waking (Subscriber.next, Attachment.prepareToSleep, PublisherCore.wakeSleepers and
   finish, Attachment.handle and end, Doorbell), with several sleepers on one futex word.

   Invariant, checked when no process can move (`timeout`): every sleeper has received the
   newest frame, and its publisher neither finished nor died. What sleeps otherwise lost a wake-up.

   A futex sleep compares and falls asleep in one step, with a full fence: the kernel counts the
   sleeper, fences, and then reads the word. Timeouts are left out, as they would hide a loss.
   Each sleeper waits on the futex or for its bell, as it likes each time. Its process's event loop
   takes bells and the publisher's death from the socket. The bell word is the process's own and
   written by read-modify-write, so it is always seen as it is.

   Bounds: N frames, SUBS sleepers of TURNS sleeps each (who has had them leaves the race); the
   publisher then goes silent, finishes, or dies, and it may die between any two steps before. CALM:
   all sleep on the futex, and it dies only in the end.

   Rules that a define breaks: NO_SLEEP_FENCE, NO_WAKE_FENCE (Dekker, both sides), CURSOR_FIRST (the
   cursor read before `wake`), WAITING_LATE (announced after the last look), WAKE_FIRST (`wake`
   bumped before the cursor is stored), WAKE_RELAXED (`wake` read without acquire), BELL_LATE (bell
   read after the look), RING_FIRST (rung before `gone` is set), NO_DEATH_RING (nobody rings at
   death), FINISH_LATE (state stored after waking), NO_FINISH_LOOK (state not read before sleep),
   END_ASKED_LATE (finished and gone asked after the look for a frame). */
#ifndef SUBS
#define SUBS 2
#endif
#ifndef N
#define N 2
#endif
#ifndef TURNS
#define TURNS 3
#endif
#define P (1 + SUBS)
#define HL 10
#define CURSOR 0
#define WAKE 1
#define FINISHED 2
#define WAITING(me) (2 + (me))
#define LOCS (3 + SUBS)
#define OWNER(x) ((x) < 3 -> 0 : (x) - 2)
#include "memory.h"

#define NOT 0
#define FUTEX 1
#define BELL 2

bool may_die, dead, asleep[P], on_futex[P], gone[P], ended[P], bell_sent[P];
byte bell[P], position[P];

inline wake_sleepers() {
  increment(0, WAKE, REL);
#ifndef NO_WAKE_FENCE
  full_fence(0);
#endif
  i = 1; sleeps = false;
  do
  :: i <= SUBS -> atomic {
       load(0, WAITING(i), RLX, how);
       if
       :: how == FUTEX -> sleeps = true
       :: how == BELL -> rings[i] = true
       :: else
       fi;
       i++; how = 0
     }
  :: else -> break
  od;
  i = 0;
  if :: sleeps -> atomic { wake_all(); sleeps = false } :: else fi;
  atomic {
    i = 1;
    do
    :: i <= SUBS -> if :: rings[i] -> tells(0, i); bell_sent[i] = true; rings[i] = false
                       :: else
                    fi;
                    i++
    :: else -> break
    od;
    i = 0
  }
}
inline wake_all() {
  full_fence(0);                       /* The kernel fences before it looks for sleepers. */
  i = 1;
  do :: i <= SUBS -> if :: on_futex[i] -> asleep[i] = false :: else fi; i++ :: else -> break od;
  i = 0
}
proctype publisher() {
  byte n = 1, i, how;
  bool sleeps, rings[P];
  {
    do
    :: n > N -> break
    :: else ->
#ifdef WAKE_FIRST
       wake_sleepers();
       store(0, CURSOR, n, REL);
#else
       store(0, CURSOR, n, REL);
       wake_sleepers();
#endif
       n++
    od;
    if
    :: skip                            /* silent */
    :: 
#ifdef FINISH_LATE
       wake_sleepers();
       store(0, FINISHED, 1, REL)
#else
       store(0, FINISHED, 1, REL);
       wake_sleepers()
#endif
    :: dead = true
    fi
  } unless { may_die -> dead = true }
}
proctype killer() { if :: may_die = true :: skip fi }

/* The event loop of a subscriber's process. */
proctype loop(byte me) {
  end: do
  :: atomic { bell_sent[me] -> bell_sent[me] = false; bell[me]++; asleep[me] = false }
  :: dead && !gone[me] ->
     atomic { full_fence(0); tells(0, me) }
#ifdef RING_FIRST
     atomic { bell[me]++; asleep[me] = false };
     gone[me] = true
#else
     gone[me] = true;
#ifndef NO_DEATH_RING
     atomic { bell[me]++; asleep[me] = false }
#endif
#endif
  od
}

proctype subscriber(byte me) {
  byte rung, how, wake, cursor, finished, turns;
  bool was_gone;
  do
  :: ended[me] -> break
  :: else ->
#ifndef BELL_LATE
     rung = bell[me];
#endif
#ifdef END_ASKED_LATE
     load(me, CURSOR, ACQ, cursor);
#endif
     was_gone = gone[me];
     load(me, FINISHED, ACQ, finished);
#ifndef END_ASKED_LATE
     load(me, CURSOR, ACQ, cursor);
#endif
     if
     :: cursor > position[me] -> atomic { position[me] = cursor; cursor = 0; finished = 0 }
     :: else ->
        if
        :: (finished || was_gone) -> atomic {
             /* What was published before the end is received before the end is seen. */
             assert(position[me] == NEWEST(CURSOR));
             ended[me] = true
           }
        :: !finished && !was_gone && turns == TURNS -> ended[me] = true
        :: !finished && !was_gone && turns < TURNS ->
           turns++;
#ifdef BELL_LATE
           rung = bell[me];
#endif
#ifdef CALM
           how = FUTEX;
#else
           if :: how = FUTEX :: how = BELL fi;
#endif
#ifdef CURSOR_FIRST
           load(me, CURSOR, ACQ, cursor);
#endif
#ifndef WAITING_LATE
           store(me, WAITING(me), how, RLX);
#ifndef NO_SLEEP_FENCE
           full_fence(me);
#endif
#endif
#ifdef WAKE_RELAXED
           load(me, WAKE, RLX, wake);
#else
           load(me, WAKE, ACQ, wake);
#endif
#ifndef CURSOR_FIRST
           load(me, CURSOR, ACQ, cursor);
#endif
#ifndef NO_FINISH_LOOK
           load(me, FINISHED, ACQ, finished);
#endif
#ifdef WAITING_LATE
           store(me, WAITING(me), how, RLX);
           full_fence(me);
#endif
           if
           :: cursor > position[me] || finished
           :: else ->
              atomic {
                if
                :: how == FUTEX ->
                   full_fence(me);
                   load(me, WAKE, RLX, finished);
                   asleep[me] = (finished == wake && bell[me] == rung);
                   on_futex[me] = asleep[me]
                :: else ->
                   asleep[me] = (bell[me] == rung)
                fi
              }
              end_asleep: atomic { !asleep[me] -> on_futex[me] = false }
           fi;
           store(me, WAITING(me), NOT, RLX)
        fi;
        atomic { how = 0; wake = 0; cursor = 0; finished = 0; was_gone = false }
     fi
  od
}

active proctype monitor() {
  byte i = 1;
  end: timeout ->
  do
  :: i <= SUBS ->
     assert(ended[i] || (!dead && !NEWEST(FINISHED) && position[i] == NEWEST(CURSOR)));
     i++
  :: else -> break
  od
}

init {
  byte i = 1;
  atomic {
    start_memory();
    run publisher();
#ifndef CALM
    run killer();
#endif
    do :: i <= SUBS -> run loop(i); run subscriber(i); i++ :: else -> break od
  }
}
