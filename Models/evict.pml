/* Eviction (StreamServer.evict, Seats.evict, leave and addHeldSequences, Attachment.pin): a
   subscriber is evicted while it pins, holds and releases; the next one gets its seat when its
   connection has ended.

   Invariants:
   I1  what a lease shows is its frame, from the pin to the release: also where its subscriber was
    XX  from the eviction on no pin succeeds that the publisher does not honour (part of I1), and
       only what was held at that moment keeps a slot: whatever the words say, FROZEN ones count;
   I3  a loan always finds a slot.

   The seat's word on the board, the list of seats, the mask of evicted seats and what was taken
   down of the hold words are the control plane's. Pages are mapped by system calls.

   Bounds: one seat with H hold words, D ring depth, N frames, LOOKS at the ring. The subscriber
   may be evicted between any two steps. NEXT: when its connection has ended another one comes.

   Rules that a define breaks: NO_PIN_FENCE, NO_EVICT_FENCE (Dekker, both sides), HOLDS_FIRST (taken
   down before the seat is marked), NO_SEAT_CHECK, SEAT_FIRST (looked at before the fence of the
   pin), BIT_FIRST (evicted before the holds are taken down), BIT_KEPT (the next one is seated
   before the mask forgets the first), ALL_COUNT (each hold of an evicted one counts). */
#ifndef D
#define D 2
#endif
#ifndef H
#define H 1
#endif
#ifndef N
#define N 5
#endif
#ifndef LOOKS
#define LOOKS 2
#endif
#define S (D + 1 + H)
#define P 4
#define SERVER 3
#define HL 9
#define SEQUENCE(n) ((n) % D)
#define SLOT(n) (D + (n) % D)
#define CURSOR (2 * D)
#define BYTES(s) (2 * D + 1 + (s))
#define SEAT (2 * D + 1 + S)
#define TAKEN (SEAT + 1)
#define EVICTED (SEAT + 2)
#define FROZEN(k) (SEAT + 3 + (k))
#define HOLD(me, k) (SEAT + 3 + H * (me) + (k))
#define LOCS (SEAT + 3 + 3 * H)
#define OWNER(x) ((x) < SEAT -> 0 : ((x) < HOLD(1, 0) -> SERVER : 1 + ((x) - HOLD(1, 0)) / H))
#include "memory.h"

#define FRESH 0
#define FREE 255
#define LISTED 1
#define THROWN_OUT 2

bool welcomed[P], closed[P];
byte page;                    /* whose page is mapped at the seat; 0: zeros */
byte kept[H];                 /* what the evicted one held at that moment */

proctype publisher() {
  byte n = 1, s, k, word, note, mine[S];
  short held;
  bool retired, evicted;
  do
  :: n > N -> break
  :: else ->
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
        full_fence(0);
        load(0, EVICTED, ACQ, evicted);
        load(0, TAKEN, ACQ, word);
        k = (word -> 0 : H); held = 0; word = 0;
        do
        :: k < H ->
           atomic { if :: page -> load(0, HOLD(page, k), ACQ, word) :: else fi }
#ifndef ALL_COUNT
           if
           :: evicted && word -> atomic {
                load(0, FROZEN(k), RLX, note);
                if :: note != word -> word = 0 :: else fi;
                note = 0
              }
           :: else
           fi;
#endif
           atomic {
             assert(!evicted || !word || page != 1 || word == kept[k]); /* I2 */
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
          held = 0; k = 0; evicted = false
        }
     :: else
     fi;
     atomic {
       if
       :: s == S -> s = 0; do :: s < S && mine[s] != FRESH -> s++ :: else -> break od
       :: else
       fi;
       assert(s < S);                                              /* I3 */
       mine[s] = n;
       store(0, BYTES(s), 238, RLX);
       store(0, BYTES(s), n, RLX);
       store(0, SEQUENCE(n), 0, RLX);
       release_fence(0);
       store(0, SLOT(n), s, RLX);
       store(0, SEQUENCE(n), n, REL);
       store(0, CURSOR, n, REL);
       s = 0; retired = false;
       n++
     }
  od
}

inline seat(t) {
  atomic {
    page = t;
    store(SERVER, SEAT, LISTED, RLX);
    store_agreed(SERVER, TAKEN, 1)
  }
  atomic { tells(SERVER, t); welcomed[t] = true }
}
inline take_down() {
  k = 0;
  do
  :: k < H -> atomic {
       load(SERVER, HOLD(1, k), ACQ, word);
       store(SERVER, FROZEN(k), word, RLX);
       kept[k] = word; k++; word = 0
     }
  :: else -> break
  od
}
inline evict() {
#ifdef HOLDS_FIRST
  take_down();
#endif
  store(SERVER, SEAT, THROWN_OUT, RLX);
#ifndef NO_EVICT_FENCE
  full_fence(SERVER);
#endif
#ifdef BIT_FIRST
  store_agreed(SERVER, EVICTED, 1);
#endif
#ifndef HOLDS_FIRST
  take_down();
#endif
#ifndef BIT_FIRST
  store_agreed(SERVER, EVICTED, 1)
#endif
}
inline leave() {
  store_agreed(SERVER, TAKEN, 0);
#ifndef BIT_KEPT
  store_agreed(SERVER, EVICTED, 0);
#endif
  page = 0
}
/* The publisher's event loop. */
proctype server() {
  byte k, word;
  seat(1);
  if
  :: evict()
  :: skip
  fi;
#ifdef NEXT
  closed[1];
  leave();
  seat(2)
#endif
}

proctype subscriber(byte me) {
  byte looks, k, n, word, slot, frame[H], where[H];
  byte evicted;
  welcomed[me];
  do
  :: looks == LOOKS + H -> break
  :: else ->
     k = looks % H;
     if
     :: frame[k] -> atomic {
          load(me, BYTES(where[k]), RLX, word);
          assert(word == frame[k]);                                /* I1 */
          store(me, HOLD(me, k), 0, REL);
          frame[k] = 0; where[k] = 0; word = 0
        }
     :: else
     fi;
     looks++;
     if
     :: looks > LOOKS -> skip                       /* Only leases were left to be let go. */
     :: else ->
        atomic {
          load(me, CURSOR, ACQ, n);
          if :: n > 1 -> n-- :: skip fi;            /* Any policy. */
#ifdef SEAT_FIRST
          load(me, SEAT, RLX, evicted);
#endif
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
           :: word == n ->
              load(me, SLOT(n), RLX, slot);
              atomic { acquire_fence(me); load(me, SEQUENCE(n), RLX, word) }
           :: else
           fi;
#ifndef NO_SEAT_CHECK
#ifndef SEAT_FIRST
           if
           :: word == n -> load(me, SEAT, RLX, evicted)
           :: else
           fi;
#endif
#endif
           if
           :: word == n && evicted != THROWN_OUT -> atomic {
                load(me, BYTES(slot), RLX, word);
                assert(word == n);                                 /* I1 */
                frame[k] = n; where[k] = slot
              }
           :: else -> store(me, HOLD(me, k), 0, REL)
           fi
        fi;
        d_step { n = 0; word = 0; slot = 0; evicted = 0 }
     fi
  od;
  closed[me] = true
}

init {
  atomic {
    start_memory();
    run publisher();
    run server();
    run subscriber(1);
#ifdef NEXT
    run subscriber(2)
#endif
  }
}
