/* A subscriber that receives in order and is a whole ring behind, while its publisher dies or stops
   at any instruction (Subscriber.receive and step).

   Invariant: when the publisher is gone and the last look found nothing, every frame that still
   stands in the ring was received. A frame whose descriptor was marked invalid, but whose
   successor's number never appeared in the cursor, does not hide those after it.

   Rules that a define breaks: NO_OVERWRITTEN (what could not be pinned is tried again until the
   cursor moves), GONE_ASKED_LATE (the death is asked for after the look). */
#ifndef D
#define D 2
#endif
#ifndef N
#define N 4
#endif
#define P 2
#define HL 9
#define SEQUENCE(n) ((n) % D)
#define CURSOR D
#define LOCS (D + 1)
#define OWNER(x) 0
#include "memory.h"

bool gone;

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
  atomic { full_fence(0); tells(0, 1); gone = true }
}

proctype subscriber() {
  byte position, overwritten, cursor, n, word, tries;
  bool was_gone;
  do
  :: was_gone && tries == D + 1 -> break
  :: else ->
#ifndef GONE_ASKED_LATE
     was_gone = gone;
#endif
     overwritten = position; tries = 0;
     do
     :: tries > D -> break
     :: tries <= D ->
        tries++;
        atomic {
          load(1, CURSOR, ACQ, cursor);
          n = overwritten + 1;
          if :: cursor > D && n < cursor - D + 1 -> n = cursor - D + 1 :: else fi
        }
        if
        :: cursor <= overwritten -> tries = D + 1; break
        :: cursor > overwritten ->
           load(1, SEQUENCE(n), ACQ, word);
           if
           :: word == n -> atomic { position = n; tries = 0; break }
           :: word != n ->
#ifdef NO_OVERWRITTEN
              skip
#else
              overwritten = n
#endif
           fi
        fi
     od;
#ifdef GONE_ASKED_LATE
     was_gone = gone;
#endif
     atomic { n = 0; word = 0; cursor = 0; overwritten = 0 }
  od;
  /* The frames that stand and were published. */
  n = 1;
  do
  :: n > NEWEST(CURSOR) -> break
  :: n <= NEWEST(CURSOR) -> assert(n <= position || NEWEST(SEQUENCE(n)) != n); n++
  od
}

init { atomic { start_memory(); run publisher(); run subscriber() } }
