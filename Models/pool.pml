/* Pools and grants (PoolBook, StreamServer.admit and waitForPool, PublisherCore.loan and setFormat):
   the control plane gives SUBS subscribers a hold each, the publishing thread changes to larger
   pictures, and loans. Subscribers keep no protocol: a hold word names whatever they like.

   Invariants:
   I1  a loan finds a slot, at the second look at the latest: the retired frames of the pool that
       is drawn on, of which some hold word names each, are no more than the holds it has room for;
   I2  the slots of that pool are as large as the picture.

   A pool of room r has slots for the ring, the loan and r holds more, so only the held are counted.
   The book is behind a lock: its steps are atomic. Making a pool takes long, and holds another lock.

   Bounds: N frames, T stores of each subscriber, one change of format. The ring is of one frame.
   The maker's thread is the control plane's, which does nothing that matters here meanwhile.

   Rules that a define breaks: GRANTED_EARLY (before the pool is there), NO_REQUEST (all are granted
   what the first pool has no room for), ROOM_LATE (a larger picture's pool is planned, and holds
   are granted by what there was), MADE_TOGETHER (no lock while pools are made), TAKEN_ONCE (the
   publishing thread does not ask for a grown pool before each look), SHOWN_LATE (a seat is listed
   before the pool is shown), TAKEN_RELAXED (it reads the list of seats without acquire). */
#ifndef SUBS
#define SUBS 2
#endif
#ifndef N
#define N 4
#endif
#ifndef T
#define T 1
#endif
#define FIRST 1                                    /* the room of a pool that was not grown */
#define P (2 + SUBS)
#define SERVER 1
#define HL 8
#define GROWN 0
#define TAKEN 1
#define HOLD(i) (2 + (i))
#define LOCS (2 + SUBS)
#define OWNER(x) ((x) < 2 -> SERVER : (x))
#include "memory.h"

/* The book. */
byte newest = 1, size = 1, capacity = FIRST, granted;
bool making;
/* Each pool's, once it is made. */
byte room[8], sizes[8];
byte published;
bool welcomed[SUBS];

proctype publisher() {
  byte mine = 1, first = 1, picture = 1, looks, held, grown, taken, i, word, plan, before, seen;
  do
  :: published == N -> break
  :: published < N && picture == 1 ->
     /* setFormat, to larger pictures. */
     picture = 2;
#ifndef MADE_TOGETHER
     atomic { !making -> making = true };
#endif
     atomic {
       plan = (granted > FIRST -> granted : FIRST);
       before = newest + 1;
#ifndef ROOM_LATE
       if :: plan < capacity -> capacity = plan :: else fi
#endif
     };
     atomic {
       newest = before; size = 2; capacity = plan;
       room[newest] = plan; sizes[newest] = 2;
       making = false;
       mine = newest; first = published + 1
     }
  :: published < N ->
     /* loan */
     looks = 0;
     again:
#ifdef TAKEN_ONCE
     if
     :: looks > 0 -> goto look
     :: else
     fi;
#endif
     load(0, GROWN, ACQ, grown);
     if
     :: grown > mine -> atomic { mine = newest; first = published + 1 }
     :: else
     fi;
     look: full_fence(0);
#ifdef TAKEN_RELAXED
     load(0, TAKEN, RLX, taken);
#else
     load(0, TAKEN, ACQ, taken);
#endif
     held = 0; seen = 0; i = 0;
     do
     :: i < taken ->
        load(0, HOLD(i), ACQ, word);
        if
        :: word >= first && word < published && !(seen & (1 << word)) ->
           seen = seen | (1 << word); held++
        :: else
        fi;
        i++
     :: else -> break
     od;
     if
     :: held > room[mine] -> looks++; assert(looks < 2); goto again        /* I1 */
     :: else
     fi;
     assert(sizes[mine] >= picture);                                       /* I2 */
     atomic { published++; looks = 0; held = 0; seen = 0; i = 0; word = 0; taken = 0; grown = 0 }
  od
}

proctype server() {
  byte i, plan, large;
  bool given;
  do
  :: i == SUBS -> break
  :: i < SUBS ->
     atomic {
       given = (granted + 1 <= capacity);
#ifdef NO_REQUEST
       given = true;
#endif
#ifdef GRANTED_EARLY
       if :: !given -> granted++ :: else fi;
#endif
       if :: given -> granted++ :: else fi
     };
     if
     :: !given ->
#if defined(GRANTED_EARLY) || defined(SHOWN_LATE)
        store(SERVER, TAKEN, i + 1, REL);
        atomic { tells(SERVER, 2 + i); welcomed[i] = true };
#endif
        /* grow */
#ifndef MADE_TOGETHER
        atomic { !making -> making = true };
#endif
        atomic { plan = newest + 1; large = size };
        if
        :: capacity < SUBS ->
           atomic {
             newest = plan; size = large; capacity = SUBS;
             room[newest] = SUBS; sizes[newest] = large;
             store(SERVER, GROWN, newest, REL)
           }
        :: else
        fi;
        making = false;
#ifdef GRANTED_EARLY
        i++
#endif
     :: else ->
        store(SERVER, TAKEN, i + 1, REL);
        /* The welcome. */
        atomic { tells(SERVER, 2 + i); welcomed[i] = true };
        i++
     fi
  od
}

proctype subscriber(byte i) {
  byte turn, word;
  end: welcomed[i];
  do
  :: turn == T -> break
  :: turn < T ->
     word = 1;
     do :: word < published -> word++ :: break od;
     atomic { store(2 + i, HOLD(i), word, REL); turn++ }
  od
}

init {
  byte i;
  atomic {
    room[1] = FIRST; sizes[1] = 1;
    start_memory();
    run publisher();
    run server();
    do :: i < SUBS -> run subscriber(i); i++ :: else -> break od
  }
}
