/* Reading without a hold (Subscriber.copy, Attachment.copyDescriptor, stillStands,
   PinLedger.copyPayload,
   PublisherCore.publish, SlotTable): descriptor, sequence, payload, acquire fence, sequence.

   Invariants:
   I1  a copy whose last look found the sequence number is that frame's, all of it;
   I2  a descriptor that is judged is that frame's;
   I3  with MIXED, a frame whose second line is not read is plain.

   The slot of a frame is used again only after its descriptor was overwritten. The releasing fence
   of that publish lies between the descriptor marked invalid and the first store to the slot. The
   publisher takes slots that were never used instead of retired ones, as it likes. With MIXED, some
   frames have details in the second line of their descriptors, and PLAIN_SINCE names the frame from
   which on none has.

   Bounds: D ring depth, FRESH_SLOTS slots more than D + 1, N frames, payloads of two words, a
   reader that copies T times. A format record is read as in `ring`, which needs no hold for it.

   Rules that a define breaks: NO_RELEASE_FENCE, NO_ACQUIRE_FENCE (the pair), NO_LAST_LOOK,
   LOOK_EARLY (the last check before the payload is read), NO_INVALIDATION, NO_SECOND_LOOK (judged
   without looking again), REUSED_EARLY (a slot is free when the frame D after its own is loaned,
   not published), PLAIN_LATE (PLAIN_SINCE stored after the cursor), PLAIN_EARLY (loaded before
   it). */
#ifndef D
#define D 2
#endif
#ifndef FRESH_SLOTS
#define FRESH_SLOTS 0
#endif
#ifndef N
#define N 5
#endif
#ifndef T
#define T 2
#endif
#define S (D + 1 + FRESH_SLOTS)
#define P 2
#define HL 9
#define SEQUENCE(n) ((n) % D)
#define SLOT(n) (D + (n) % D)
#define CURSOR (2 * D)
#define HEAD(s) (2 * D + 1 + (s))
#define TAIL(s) (2 * D + 1 + S + (s))
#define PLAIN_SINCE (2 * D + 1 + 2 * S)
#define LOCS (2 * D + 2 + 2 * S)
#define OWNER(x) 0
#include "memory.h"

#define FRESH 0
#define FREE 255
#ifdef REUSED_EARLY
#define LEFT(s) (mine[s] + D <= n)
#else
#define LEFT(s) (mine[s] + D < n)
#endif

byte slot_of[N + 1];
bool is_plain[N + 1];

inline show_details(frame) {
#ifdef MIXED
  if
  :: is_plain[frame] = true
  :: store(0, PLAIN_SINCE, frame + 1, RLX)
  fi
#else
  skip
#endif
}

proctype publisher() {
  byte n = 1, s, mine[S];
  bool retired, fresh;
  do
  :: n > N -> break
  :: else ->
     d_step {
       s = 0; retired = false; fresh = false;
       do
       :: s < S && mine[s] != FREE ->
          if
          :: mine[s] == FRESH -> fresh = true
          :: mine[s] != FRESH -> retired = retired || LEFT(s)
          fi;
          s++
       :: else -> break
       od
     }
     if
     :: s == S && retired ->
        /* It looks for holds here. That fence is left out, so that no copy can rest on it. */
        d_step {
          s = 0;
          do
          :: s < S -> if :: mine[s] != FRESH && LEFT(s) -> mine[s] = FREE :: else fi; s++
          :: else -> break
          od;
          s = 0;
          do :: s < S && mine[s] != FREE -> s++ :: else -> break od
        }
     :: s == S && fresh
     :: s < S
     fi;
     atomic {
       if
       :: s == S -> s = 0; do :: s < S && mine[s] != FRESH -> s++ :: else -> break od
       :: else
       fi;
       assert(s < S);
       mine[s] = n; slot_of[n] = s;
       store(0, HEAD(s), n, RLX);
       store(0, TAIL(s), n, RLX);
#ifndef NO_INVALIDATION
       store(0, SEQUENCE(n), 0, RLX);
#endif
#ifndef NO_RELEASE_FENCE
       release_fence(0);
#endif
       store(0, SLOT(n), s, RLX);
       store(0, SEQUENCE(n), n, REL);
#ifndef PLAIN_LATE
       show_details(n);
#endif
       store(0, CURSOR, n, REL);
#ifdef PLAIN_LATE
       show_details(n);
#endif
       s = 0; retired = false; fresh = false;
       n++
     }
  od
}

proctype reader(byte me) {
  byte copies, n, word, slot, head, tail, since;
  do
  :: copies == T -> break
  :: else ->
     copies++;
#ifdef PLAIN_EARLY
     load(me, PLAIN_SINCE, RLX, since);
#endif
     atomic {
       load(me, CURSOR, ACQ, n);
       if :: n > 1 -> n-- :: skip fi                /* Any policy. */
     }
#if defined(MIXED) && !defined(PLAIN_EARLY)
     load(me, PLAIN_SINCE, RLX, since);
#endif
     if
     :: n == 0
     :: else ->
        load(me, SEQUENCE(n), ACQ, word);
        if
        :: word == n ->
           load(me, SLOT(n), RLX, slot);
#ifndef NO_SECOND_LOOK
           atomic { acquire_fence(me); load(me, SEQUENCE(n), RLX, word) }
#endif
        :: else
        fi;
        if
        :: word == n ->
           assert(slot == slot_of[n]);                             /* I2 */
#ifdef MIXED
           assert(since > n || is_plain[n]);                       /* I3 */
#endif
           load(me, HEAD(slot), RLX, head);
#ifndef LOOK_EARLY
           load(me, TAIL(slot), RLX, tail);
#endif
#ifndef NO_LAST_LOOK
           atomic {
#ifndef NO_ACQUIRE_FENCE
             acquire_fence(me);
#endif
             load(me, SEQUENCE(n), RLX, word)
           }
#endif
#ifdef LOOK_EARLY
           load(me, TAIL(slot), RLX, tail);
#endif
           assert(word != n || (head == n && tail == n))           /* I1 */
        :: else
        fi
     fi;
     d_step { n = 0; word = 0; slot = 0; head = 0; tail = 0; since = 0 }
  od
}

init {
  atomic {
    start_memory();
    run publisher();
    run reader(1)
  }
}
