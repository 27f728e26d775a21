/* Publish, receive, reuse, release (PublisherCore.publish, SlotTable.take, Attachment.pin,
   Attachment.format, Attachment.release).

   Invariants, as assertions:
   I1  what a lease shows is the frame of its sequence number, from the pin to the release;
   I2  a pinned descriptor is that frame's in all its fields (slot and epoch are read apart);
   I3  the format record that a standing descriptor names is that of its epoch;
   I4  a loan always finds a slot, with D + 1 + (hold words) slots.

   Bounds: D ring depth, SUBS subscribers with H hold words each, N frames, T receives by each
   subscriber. Each frame begins a format epoch, the worst case for the D records.

   Rules that a define breaks: NO_PIN_FENCE, NO_REUSE_FENCE (Dekker, both sides), NO_RELEASE_FENCE,
   NO_ACQUIRE_FENCE (seqlock), RELAXED_PUBLISH (sequence and cursor without release),
   NO_INVALIDATION, NO_SECOND_LOOK, RELEASE_EARLY (the hold is let go before the last read),
   RECORD_FIRST (a format record written before the descriptor is invalid), NO_RECORD_LOOK (the
   record read without the last look), FEW_RECORDS (D − 1 of them), FEW_SLOTS (one less). */
#ifndef D
#define D 2
#endif
#ifndef H
#define H 1
#endif
#ifndef SUBS
#define SUBS 2
#endif
#ifndef N
#define N 5
#endif
#ifndef T
#define T 1
#endif
#ifdef FEW_SLOTS
#define S (D + SUBS * H)
#else
#define S (D + 1 + SUBS * H)
#endif
#ifdef FEW_RECORDS
#define RECORDS (D - 1)
#else
#define RECORDS D
#endif

#define P (1 + SUBS)
#define HL 9
#define SEQUENCE(n) ((n) % D)
#define SLOT(n) (D + (n) % D)
#define EPOCH(n) (2 * D + (n) % D)
#define RECORD_EPOCH(e) (3 * D + (e) % RECORDS)
#define RECORD_BODY(e) (4 * D + (e) % RECORDS)
#define CURSOR (5 * D)
#define BYTES(s) (5 * D + 1 + (s))
#define HOLDS (5 * D + 1 + S)
#define HOLD(me, k) (HOLDS + ((me) - 1) * H + (k))
#define LOCS (HOLDS + SUBS * H)
#define OWNER(x) ((x) < HOLDS -> 0 : 1 + ((x) - HOLDS) / H)
#include "memory.h"

#ifdef RELAXED_PUBLISH
#define PUBLISHING RLX
#else
#define PUBLISHING REL
#endif
#define FRESH 0
#define FREE 255

inline write_record(n) {
  store(0, RECORD_EPOCH(n), n, RLX);
  store(0, RECORD_BODY(n), n, RLX)
}

proctype publisher() {
  byte n = 1, s, k, word, mine[S];
  short held;
  bool retired;
  do
  :: n > N -> break
  :: else ->
     /* Loan: a slot that is free; else the retired ones that nobody holds; else a fresh one. */
     d_step {
       s = 0; retired = false;
       do
       :: s < S && mine[s] != FREE ->
          if :: mine[s] != FRESH && mine[s] + D < n -> retired = true :: else fi;
          s++
       :: else -> break
       od;
       word = 0
     }
     if
     :: s == S && retired ->
#ifndef NO_REUSE_FENCE
        full_fence(0);
#endif
        k = 0; held = 0;
        do
        :: k < SUBS * H -> atomic {
             load(0, HOLDS + k, ACQ, word);
             held = held | (1 << word); k++; word = 0
           }
        :: else -> break
        od;
        atomic {
          s = 0;
          do
          :: s < S ->
             if
             :: mine[s] != FRESH && mine[s] + D < n && !((held >> mine[s]) & 1) -> mine[s] = FREE
             :: else
             fi;
             s++
          :: else -> break
          od;
          s = 0;
          do :: s < S && mine[s] != FREE -> s++ :: else -> break od;
          held = 0; k = 0
        }
     :: else
     fi;
     atomic {
       if
       :: s == S -> s = 0; do :: s < S && mine[s] != FRESH -> s++ :: else -> break od
       :: else
       fi;
       assert(s < S);                                              /* I4 */
       mine[s] = n;
       /* Fill. */
       store(0, BYTES(s), 238, RLX);
       store(0, BYTES(s), n, RLX);
       /* Publish. */
#ifdef RECORD_FIRST
       write_record(n);
#endif
#ifndef NO_INVALIDATION
       store(0, SEQUENCE(n), 0, RLX);
#endif
#ifndef NO_RELEASE_FENCE
       release_fence(0);
#endif
#ifndef RECORD_FIRST
       write_record(n);
#endif
       store(0, SLOT(n), s, RLX);
       store(0, EPOCH(n), n, RLX);
       store(0, SEQUENCE(n), n, PUBLISHING);
       store(0, CURSOR, n, PUBLISHING);
       s = 0; retired = false;
       n++
     }
  od
}

proctype subscriber(byte me) {
  byte tries, k, n, word, slot, epoch, frame[H], where[H];
  bool last;
  do
  :: tries == T + H -> break
  :: else ->
     k = tries % H;
     if
     :: frame[k] ->                                 /* The lease that the word has is let go. */
#ifdef RELEASE_EARLY
        store(me, HOLD(me, k), 0, REL);
#endif
        atomic {
          load(me, BYTES(where[k]), RLX, word);
          assert(word == frame[k]);                                /* I1 */
#ifndef RELEASE_EARLY
          store(me, HOLD(me, k), 0, REL);
#endif
          frame[k] = 0; where[k] = 0
        }
     :: else
     fi;
     tries++;
     if
     :: tries > T -> skip                           /* Only leases were left to be let go. */
     :: else ->
        atomic {
          load(me, CURSOR, ACQ, n);
          if :: n > 1 -> n-- :: skip fi;            /* Any policy. */
          if :: n -> store(me, HOLD(me, k), n, REL) :: else fi
        }
        if
        :: n == 0
        :: else ->
#ifndef NO_PIN_FENCE
           full_fence(me);
#endif
           load(me, SEQUENCE(n), ACQ, word);
           if
           :: word != n -> store(me, HOLD(me, k), 0, REL)
           :: else ->
              load(me, SLOT(n), RLX, slot);
              load(me, EPOCH(n), RLX, epoch);
#ifndef NO_SECOND_LOOK
              atomic {
#ifndef NO_ACQUIRE_FENCE
                acquire_fence(me);
#endif
                load(me, SEQUENCE(n), RLX, word)
              }
#endif
              if
              :: word != n -> store(me, HOLD(me, k), 0, REL)
              :: else ->
                 assert(epoch == n);                               /* I2 */
                 atomic {
                   load(me, BYTES(slot), RLX, word);
                   assert(word == n);                              /* I1, I2 */
                   frame[k] = n; where[k] = slot
                 }
                 load(me, RECORD_EPOCH(n), RLX, slot);
                 load(me, RECORD_BODY(n), RLX, epoch);
#ifndef NO_RECORD_LOOK
                 atomic { acquire_fence(me); load(me, SEQUENCE(n), RLX, word) }
#endif
                 d_step {
                   assert(word != n || (slot == n && epoch == n)); /* I3 */
                   word = 0; slot = 0; epoch = 0
                 }
              fi
           fi
        fi;
        d_step { n = 0; word = 0; slot = 0; epoch = 0 }
     fi
  od
}

init {
  atomic {
    start_memory();
    run publisher();
    run subscriber(1);
#if SUBS > 1
    run subscriber(2)
#endif
  }
}
