/* Arriving and leaving while frames are published (StreamServer.welcome and drop, Seats.take, leave
   and endLossless, Subscriber.attach, PublisherCore.firstBlocker): two subscribers, one after the
   other, at the same seat.

   Invariants:
   I1  what a lease shows is its frame, also where its subscriber came just now;
   I2  a lossless subscriber misses no frame from the one where it begins, unless it stood still;
   I3  lossless delivery is ended only for who stood still, not for who has its seat by then;
   I4  a loan always finds a slot.

   The mask of lossless seats, tenancies and the mapping of pages belong to one process and change
   as read-modify-writes, by system calls, or under a lock. The list of seats is shared memory like
   the ring, as fences, not locks, order it.

   Bounds: one seat with one hold word, D ring depth, N frames, LOOKS at the
   ring by each. LOSSY: nobody asks for lossless.

   Rules that a define breaks: LISTED_LATE (listed after the welcome), LOSSLESS_LATE (the same for
   the mask of lossless seats), NO_STANDING (a newcomer counts as one that wants nothing that
   stands), NO_TENANCY (ended without looking who has the seat), PAGE_LATE (mapped
   after the welcome), LEAVE_LATE (the next one is seated before the list forgets the first),
   NO_PUBLISH_FENCE, NO_SEAT_FENCE (Dekker: cursor and mask of lossless seats). */
#ifndef D
#define D 2
#endif
#ifndef N
#define N 4
#endif
#ifndef LOOKS
#define LOOKS 1
#endif
#define S (D + 2)
#define P 4
#define SERVER 3
#define HL 9
#define SEQUENCE(n) ((n) % D)
#define SLOT(n) (D + (n) % D)
#define CURSOR (2 * D)
#define BYTES(s) (2 * D + 1 + (s))
#define HOLD(me) (2 * D + S + (me))
#define POSITION(me) (2 * D + S + 2 + (me))
#define TAKEN (2 * D + S + 5)
#define LOCS (2 * D + S + 6)
#define PAGES (2 * D + S + 1)
#define OWNER(x) ((x) < PAGES -> 0 : ((x) == TAKEN -> SERVER : 1 + ((x) - PAGES) % 2))
#include "memory.h"

#define FRESH 0
#define FREE 255

bool lossless, stood_still[P], told[P], welcomed[P], closed[P];
byte tenant;            /* whose tenancy it is */
byte page;              /* whose page is mapped at the seat; 0: zeros */
byte first[P];          /* the cursor in a welcome */

proctype publisher() {
  byte n = 1, s, word, who, mine[S];
  bool blocked, retired;
  do
  :: n > N -> break
  :: else ->
#ifndef LOSSY
     /* Who would miss the frame that the next one overwrites? */
     do
     :: !lossless -> break
     :: lossless ->
        who = tenant;
        atomic {
          if :: page -> load(0, POSITION(page), ACQ, word) :: else fi;
          blocked = (word + D < n && word < n);
          word = 0
        }
        if
        :: !blocked -> break
        :: blocked && !stood_still[who]
        :: blocked && stood_still[who] -> atomic {
             if
#ifdef NO_TENANCY
             :: lossless ->
#else
             :: lossless && tenant == who ->
#endif
                assert(stood_still[tenant]);                       /* I3 */
                lossless = false; told[tenant] = true
             :: else
             fi
           }
        fi
     od;
     atomic { who = 0; blocked = false }
#endif
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
        load(0, TAKEN, ACQ, word);
        if
        :: word -> atomic { word = 0; if :: page -> load(0, HOLD(page), ACQ, word) :: else fi }
        :: else
        fi;
        atomic {
          s = 0;
          do
          :: s < S ->
             if
             :: mine[s] != FRESH && mine[s] + D < n && word != mine[s] -> mine[s] = FREE
             :: else
             fi;
             s++
          :: else -> break
          od;
          s = 0;
          do :: s < S && mine[s] != FREE -> s++ :: else -> break od
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
       store(0, BYTES(s), 238, RLX);
       store(0, BYTES(s), n, RLX);
       store(0, SEQUENCE(n), 0, RLX);
       release_fence(0);
       store(0, SLOT(n), s, RLX);
       store(0, SEQUENCE(n), n, REL);
       store(0, CURSOR, n, REL);
       s = 0; retired = false; word = 0;
       n++
     }
#ifndef NO_PUBLISH_FENCE
     full_fence(0)                                     /* PublisherCore.wakeSleepers has it. */
#endif
  od
}

inline list(t) {
  tenant = t;
#ifndef PAGE_LATE
  page = t;
#endif
#ifndef LOSSLESS_LATE
#ifndef LOSSY
  lossless = true;
#endif
#endif
  store_agreed(SERVER, TAKEN, 1)
}
inline welcome(t) {
#ifndef NO_SEAT_FENCE
  full_fence(SERVER);
#endif
  load(SERVER, CURSOR, ACQ, before);
  atomic { first[t] = before; before = 0; tells(SERVER, t); welcomed[t] = true }
}
inline seat(t) {
  atomic {
    load(SERVER, CURSOR, ACQ, before);
    /* The page's first contents. */
#ifdef NO_STANDING
    val[POSITION(t) * HL] = before;
#else
    val[POSITION(t) * HL] = (before > D -> before - D : 0);
#endif
    before = 0
  }
#ifdef LISTED_LATE
  welcome(t);
  list(t)
#else
  list(t);
  welcome(t)
#endif
#ifdef LOSSLESS_LATE
  ;lossless = true
#endif
#ifdef PAGE_LATE
  ;page = t
#endif
}
inline leave() {
  lossless = false;
  store_agreed(SERVER, TAKEN, 0);
  page = 0
}
/* The publisher's event loop. */
proctype server() {
  byte before;
  seat(1);
#ifdef LEAVE_LATE
  closed[1];
  seat(2);
  leave()
#else
  closed[1];
  leave();
  seat(2)
#endif
}

proctype subscriber(byte me) {
  byte position, n, word, slot, looks;
  atomic {
    welcomed[me];
    position = first[me];
    if :: position -> position-- :: skip fi;                       /* .newest or .next */
    store(me, POSITION(me), position, REL)
  }
  do
  :: looks == LOOKS -> break                                          /* leaves */
  :: stood_still[me] = true; break                                 /* stood still, then leaves */
  :: NEWEST(CURSOR) > position && looks < LOOKS ->
     looks++;
     load(me, CURSOR, ACQ, word);
     if
     :: word <= position
     :: else ->
        atomic { n = position + 1; word = 0; store(me, HOLD(me), n, REL) }
        full_fence(me);
        load(me, SEQUENCE(n), ACQ, word);
        if
        :: word == n ->
           load(me, SLOT(n), RLX, slot);
           atomic { acquire_fence(me); load(me, SEQUENCE(n), RLX, word) }
        :: else
        fi;
#ifndef LOSSY
        assert(word == n || told[me]);                             /* I2 */
#endif
        if
        :: word == n ->
           atomic { position = n; store(me, POSITION(me), n, REL) }
           atomic {
             load(me, BYTES(slot), RLX, word);
             assert(word == n);                                    /* I1 */
             store(me, HOLD(me), 0, REL)
           }
        :: else -> atomic { position = n; store(me, HOLD(me), 0, REL) }
        fi
     fi;
     atomic { n = 0; word = 0; slot = 0 }
  od;
  closed[me] = true
}

init {
  atomic {
    start_memory();
    run publisher();
    run server();
    run subscriber(1);
    run subscriber(2)
  }
}
