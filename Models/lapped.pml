/* A subscriber that receives in order and is up to a whole ring behind, while its publisher dies or
   stops at any instruction, or its connection is cut (Subscriber.receive, giveUpLapped, conclude
   and attach).

   Invariants:
   I1  when the publisher is gone and the last look found nothing, every frame that still stands in
       the ring was received: one whose descriptor was marked invalid, but whose successor's number
       never appeared in the cursor, does not hide those after it;
   I2  a frame that could not be pinned is given up at once, and none that stood when it was chosen:
       each up to the position is received or dropped, once, also where the connection was cut
       meanwhile;
   I3  the cursor of a welcome to the same generation is never behind the position.

   Bounds: D ring depth, N frames, one cut, FEW tries before the subscriber says that there is
   nothing. Where the publisher dies after a cut nothing is left to attach to.

   Rules that a define breaks: TRIED_AGAIN (what could not be pinned is tried again until the cursor
   moves), GONE_ASKED_LATE (the death is asked for after the look), BEGUN_ANEW (attached
   again, it goes on at the cursor of the welcome). */
#ifndef D
#define D 2
#endif
#ifndef N
#define N 4
#endif
#define FEW (D + 1)
#define P 3
#define SERVER 2
#define HL 9
#define SEQUENCE(n) ((n) % D)
#define CURSOR D
#define LOCS (D + 1)
#define OWNER(x) 0
#include "memory.h"

#define UNKNOWN 0
#define RECEIVED 1
#define DROPPED 2
bool gone, dead;
byte fate[N + 1];

proctype publisher() {
  byte n = 1;
  do
  :: n > N -> break
  :: n <= N ->
     store(0, SEQUENCE(n), 0, RLX);
     if :: break :: skip fi;
     atomic { release_fence(0); store(0, SEQUENCE(n), n, REL) }
     if :: break :: skip fi;
     atomic { store(0, CURSOR, n, REL); n++ }
  :: break
  od;
  atomic { full_fence(0); tells(0, 1); dead = true; gone = true }
}
proctype cut() { gone = true }

inline settle(what) {
  position++;
  assert(fate[position] == UNKNOWN);                               /* I2 */
  fate[position] = what
}
inline give_up_lapped() {
  do :: cursor > position + D -> settle(DROPPED) :: else -> break od
}
inline look() {
  tries = 0; found = false;
  do
  :: tries == FEW || found -> break
  :: else ->
     tries++;
     atomic {
       load(1, CURSOR, ACQ, cursor);
       if :: cursor > position -> give_up_lapped() :: else fi
     }
     if
     :: cursor <= position -> break
     :: else ->
        load(1, SEQUENCE(position + 1), ACQ, word);
        atomic {
          if
          :: word == position + 1 -> settle(RECEIVED); found = true
#ifndef TRIED_AGAIN
          :: else -> settle(DROPPED)
#else
          :: else
#endif
          fi;
          word = 0
        }
     fi
  od;
  cursor = 0
}
/* The same generation again: hello, welcome. */
inline attach() {
  atomic { gone = dead };
  tells(1, SERVER);
  full_fence(SERVER);
  load(SERVER, CURSOR, ACQ, cursor);
  tells(SERVER, 1);
  assert(cursor >= position);                                      /* I3 */
#ifdef BEGUN_ANEW
  position = cursor;
#endif
  d_step { give_up_lapped(); cursor = 0 }
}
proctype subscriber() {
  byte position, cursor, word, tries, n;
  bool was_gone, was_dead, found;
  do
  ::
#ifndef GONE_ASKED_LATE
     atomic { was_gone = gone; was_dead = dead }
#endif
     look();
#ifdef GONE_ASKED_LATE
     atomic { was_gone = gone; was_dead = dead }
#endif
     if
     :: found || !was_gone
     :: !found && was_dead -> break
     :: !found && was_gone && !was_dead ->
        if
        :: dead -> goto alone                      /* Nobody is there to attach to. */
        :: else -> attach()
        fi
     fi
  od;
  /* The frames that stand and were published, and those that were come to. */
  n = 1;
  do
  :: n > NEWEST(CURSOR) -> break
  :: n <= NEWEST(CURSOR) ->
     assert(fate[n] == RECEIVED || NEWEST(SEQUENCE(n)) != n);      /* I1 */
     assert(fate[n] != UNKNOWN || n > position);                   /* I2 */
     n++
  od;
  alone: skip
}

init { atomic { start_memory(); run publisher(); run cut(); run subscriber() } }
