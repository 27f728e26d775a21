/* Lossless delivery (PublisherCore.firstBlocker, waitForLossless, Attachment.advance): position,
   progress, publisherWaiting; a subscriber's death and its standing still.

   Invariants:
   I1  a lossless subscriber finds every frame in its descriptor, unless its lossless delivery was
       ended; then it can see that once it sees the gap;
   I2  when nothing can move any more, the publisher has published all its frames: it does not
       sleep for a subscriber that got on, left, or stands still for ever.

   A futex sleep compares and falls asleep in one step, with a full fence. The stall limit passes
   only for a subscriber that really stands still, so that it hides no lost wake-up. Masks and the
   word `changes` belong to the publisher's process and are written by read-modify-write. A
   subscriber waits for the cursor by looking (sleep.pml has the sleeping).

   Bounds: D ring depth, LOANS out at once, N frames, SUBS subscribers that all begin at frame 1.

   Rules that a define breaks: NO_ADVANCE_FENCE, NO_WAIT_FENCE (Dekker, both sides), PROGRESS_LATE
   (progress word read after the position), CHANGES_LATE (the same for `changes`), NO_CHANGES (a
   death wakes nobody), POSITION_EARLY (advanced before the descriptor is copied), IGNORES_LOANS
   (loans that are out are not counted), NO_STALL_LIMIT, ENDED_LATE (told after the next frame),
   NO_END_FENCE, NO_GAP_FENCE (told, and the gap made, in an order that nothing keeps). */
#ifndef D
#define D 2
#endif
#ifndef LOANS
#define LOANS 1
#endif
#ifndef SUBS
#define SUBS 2
#endif
#ifndef N
#define N 4
#endif
#define P (1 + SUBS)
#define HL 10
#define SEQUENCE(n) ((n) % D)
#define CURSOR D
#define PUBLISHER_WAITING (D + 1)
#define SEAT(i) (D + 1 + (i))
#define POSITION(me) (D + 1 + SUBS + (me))
#define PROGRESS(me) (D + 1 + 2 * SUBS + (me))
#define LOCS (D + 2 + 3 * SUBS)
#define OWNER(x) ((x) < D + 2 + SUBS -> 0 : 1 + ((x) - (D + 2 + SUBS)) % SUBS)
#include "memory.h"

bool lossless[P], dead[P], stuck[P], asleep;
byte changes, slept_on, next = 1;

/* The first lossless subscriber that the next loan would overrun, or 0. */
inline first_blocker(into) {
  i = 1; into = 0;
  do
  :: i <= SUBS && !into ->
     if
     :: atomic {
          lossless[i] -> load(0, POSITION(i), ACQ, word);
#ifdef IGNORES_LOANS
          if :: word + D < next -> into = i :: else fi;
#else
          if :: word + D < next + loans && word < next -> into = i :: else fi;
#endif
          word = 0
        }
     :: else
     fi;
     i++
  :: else -> break
  od;
  i = 0
}
inline publish() {
  atomic {
    store(0, SEQUENCE(next), 0, RLX);
    release_fence(0);
    store(0, SEQUENCE(next), next, REL);
    store(0, CURSOR, next, REL);
    next++; loans--
  }
}
proctype publisher() {
  byte i, word, loans, blocker, watched, progress, change, ending;
  do
  :: next > N -> break
  :: loans > 0 -> publish();
#ifdef ENDED_LATE
     if :: ending -> atomic { store(0, SEAT(ending), 1, RLX); ending = 0 } :: else fi
#endif
  :: loans < LOANS && next + loans <= N ->
     first_blocker(watched);
     if
     :: watched ->
        store(0, PUBLISHER_WAITING, 1, RLX);
#ifndef NO_WAIT_FENCE
        full_fence(0);
#endif
        do
        :: 
#ifndef CHANGES_LATE
           change = changes;
#endif
#ifndef PROGRESS_LATE
           load(0, PROGRESS(watched), ACQ, progress);
#endif
           first_blocker(blocker);
#ifdef CHANGES_LATE
           change = changes;
#endif
#ifdef PROGRESS_LATE
           load(0, PROGRESS(watched), ACQ, progress);
#endif
           if
           :: !blocker -> break
           :: blocker && blocker != watched -> watched = blocker
           :: blocker && blocker == watched ->
              atomic {
                full_fence(0);
                load(0, PROGRESS(watched), RLX, word);
                asleep = (word == progress && change == changes);
                slept_on = watched;
                word = 0
              }
              if
              :: !asleep
#ifndef NO_STALL_LIMIT
              :: atomic { asleep && stuck[watched] -> asleep = false };
                 atomic {
                   lossless[watched] = false;
#ifdef ENDED_LATE
                   ending = watched
#else
                   store(0, SEAT(watched), 1, RLX);
#ifndef NO_END_FENCE
                   release_fence(0)
#endif
#endif
                 }
#endif
              fi
           fi
        od;
        atomic { store(0, PUBLISHER_WAITING, 0, RLX); progress = 0; change = 0; blocker = 0 }
     :: else
     fi;
     /* Publisher.loan looks once more; only this process's thread loans in between. */
     atomic { watched = 0; loans++ }
  od
}

proctype subscriber(byte me) {
  byte position, word;
  do
  :: position == N || dead[me] -> break
  :: position < N && !dead[me] && NEWEST(CURSOR) > position ->
     load(me, CURSOR, ACQ, word);
     if
     :: word <= position
     :: else ->
        if
        :: skip
        :: atomic { stuck[me] = true }; stuck[me] = false         /* stands still for a while */
        :: stuck[me] = true; break                                /* for ever */
        :: atomic { dead[me] = true }; break
        fi;
#ifdef POSITION_EARLY
        store(me, POSITION(me), position + 1, REL);
#endif
        load(me, SEQUENCE(position + 1), ACQ, word);
        assert(word == position + 1 || !lossless[me]);             /* I1 */
        if
        :: word == position + 1 -> atomic {
             acquire_fence(me);
             load(me, SEQUENCE(position + 1), RLX, word);
             assert(word == position + 1 || !lossless[me])         /* I1 */
           }
        :: else
        fi;
        if
        :: word != position + 1 -> atomic {
             /* Given up at once, with a reason. */
#ifndef NO_GAP_FENCE
             acquire_fence(me);
#endif
             load(me, SEAT(me), RLX, word);
             assert(word == 1)                                     /* I1 */
           };
           break
        :: else -> atomic {
             position++;
#ifndef POSITION_EARLY
             store(me, POSITION(me), position, REL)
#endif
           }
        fi;
#ifndef NO_ADVANCE_FENCE
        full_fence(me);
#endif
        load(me, PUBLISHER_WAITING, RLX, word);
        if
        :: word ->
           atomic { increment(me, PROGRESS(me), REL); word = 0 }
           atomic {
             full_fence(me);                 /* The kernel fences before it looks for sleepers. */
             if :: asleep && slept_on == me -> asleep = false :: else fi
           }
        :: else
        fi
     fi;
     word = 0
  od
}

/* The publisher's event loop. */
proctype loop() {
  end: do
  :: atomic { dead[1] && lossless[1] -> lossless[1] = false }
#ifndef NO_CHANGES
     atomic { changes++; asleep = false }
#endif
#if SUBS > 1
  :: atomic { dead[2] && lossless[2] -> lossless[2] = false }
#ifndef NO_CHANGES
     atomic { changes++; asleep = false }
#endif
#endif
  od
}

active proctype monitor() {
  end: timeout -> assert(next > N)                                 /* I2 */
}

init {
  byte i = 1;
  atomic {
    start_memory();
    do :: i <= SUBS -> lossless[i] = true; i++ :: else -> break od;
    i = 0;
    run publisher();
    run loop();
    run subscriber(1);
#if SUBS > 1
    run subscriber(2)
#endif
  }
}
