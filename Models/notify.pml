/* The doorbell hand-shake of notifications (NameWord.post, Doorbells.ring and current,
   RegistrationsView, Registration.take and drainAndArm, TableObserver.register and checkForPosts): one
   observer, a process with MATES threads
   that post, who share what they know of the observer, and with OTHER a process of one thread. Each
   thread posts a name of its own; the generations are the truth, the datagrams only wake.

   Observer: register, then over and over: drain the socket, armed + 1, full fence, check all
   generations, sleep. Poster: generation + 1, full fence, look for the registration; unless rung is
   what armed is, send, then rung = that armed.

   Invariants, checked when nothing can move any more (`timeout`):
   I1  the observer has seen every post whose poster lives; no timer was needed for that;
   I2  after one re-check more (KILL) it has seen all posts.

   A generation and a `rung` have several writers, who use read-modify-writes and plain stores. Each
   writer has a word of its own here, and a load of `rung` returns what any of them stored: that
   allows more than one word would. A generation's read-modify-write is a fence only on x86. Where
   the code has accesses of one order (sequentially consistent) the model has relaxed ones and the
   fence between them.

   The directory of registrations and the socket are the kernel's: single steps. Who is woken by a
   datagram knows nothing by that of what its sender knew. A poster compares the epoch at each post,
   and reads the directory only if that is a new one. The socket holds QUEUE datagrams; another one
   gets EAGAIN, which counts as sent: its sender's socket is connected to this observer alone. A
   drain is bounded, so it may leave some; then the observer does not sleep. The other process may
   be refused for what is not in this queue (ENOBUFS, or EAGAIN on a socket that sends to others
   too), and tries again.

   Bounds: POSTS by each thread, REGISTRATIONS of the observer, who may cancel one whenever it would
   sleep. KILL: the first thread may be killed between any two steps, and leaves its mates, which is
   worse than the death of all; the timer goes off once, when all rests.

   Rules that a define breaks: CHECK_FIRST (checked before armed), DRAIN_LATE (drained after armed),
   RUNG_FIRST (rung before it is sent), RUNG_NEW (rung is what armed is after sending),
   NO_ARM_FENCE, NO_POST_FENCE (Dekker, both sides), ONE_RUNG (one for all processes, one of which
   lies), EAGAIN_COUNTS (also where it says nothing of this queue), NAMED_ONLY (only the names of
   the datagrams are checked), RESTARTED (a registration counts from 1 in the words of the one
   before), REGISTERED_LATE (after the check), EPOCH_FIRST (the epoch changed before the directory),
   EPOCH_LATE (the directory read before the epoch). */
#ifndef MATES
#define MATES 2
#endif
#ifndef POSTS
#define POSTS 1
#endif
#ifndef REGISTRATIONS
#define REGISTRATIONS 1
#endif
#ifndef QUEUE
#define QUEUE 1
#endif
#ifdef OTHER
#define POSTERS (MATES + 1)
#else
#define POSTERS MATES
#endif
#define P (1 + POSTERS)
#define HL 10
#ifdef RESTARTED
#define WORDS(r) 0
#else
#define WORDS(r) ((r) - 1)
#endif
#define EPOCH 0
#define ARMED(r) (1 + WORDS(r))
#define GENERATION(p) (REGISTRATIONS + (p))
#define RUNG(r, p) (REGISTRATIONS + POSTERS * (1 + WORDS(r)) + (p))
#define LOCS (1 + REGISTRATIONS + POSTERS * (1 + REGISTRATIONS))
#define OWNER(x) ((x) <= REGISTRATIONS -> 0 : 1 + ((x) - REGISTRATIONS - 1) % POSTERS)
#include "memory.h"

byte listed, open;                     /* the directory's registration, and the socket's; 0: none */
byte queue;
byte seen[P];
bool named[P];                         /* whose names the datagrams in the queue have */
bool may_kill, killed, timer;

inline put(from) { d_step { queue++; named[from] = true } }

inline enlist() {
#ifdef EPOCH_FIRST
  increment(0, EPOCH, REL);
  atomic { open = registration; listed = registration }
#else
  atomic { open = registration; listed = registration; increment(0, EPOCH, REL) }
#endif
}
inline drain() { do :: queue > 0 -> queue--; if :: break :: skip fi :: queue == 0 -> break od }
inline arm() {
#ifdef RESTARTED
  atomic { armed++; store(0, ARMED(registration), armed, REL) };
#else
  increment(0, ARMED(registration), REL);
#endif
#ifndef NO_ARM_FENCE
  full_fence(0)
#endif
}
inline check() {
  p = 1; news = false;
  do
  :: p <= POSTERS -> atomic {
#ifdef NAMED_ONLY
       if
       :: named[p] || turns == 0 -> load(0, GENERATION(p), ACQ, word)
       :: else -> word = seen[p]
       fi;
       named[p] = false;
#else
       load(0, GENERATION(p), ACQ, word);
#endif
       if :: word != seen[p] -> seen[p] = word; news = true :: else fi;
       p++; word = 0
     }
  :: else -> break
  od;
  p = 0
}
proctype observer() {
  byte registration, armed, p, word, turns;
  bool news;
  again: atomic { registration++; armed = 0; turns = 0 };
#ifndef REGISTERED_LATE
  enlist();
#endif
  do
  ::
#ifdef CHECK_FIRST
     drain();
     check();
     arm();
#else
#ifdef DRAIN_LATE
     arm();
     drain();
#else
     drain();
     arm();
#endif
     check();
#endif
#ifdef NAMED_ONLY
     turns = 1;
#endif
#ifdef REGISTERED_LATE
     if :: listed == 0 -> enlist() :: else fi;
#endif
     if
     :: news
     :: !news ->
        end_asleep: if
        :: queue > 0
        :: atomic { timer -> timer = false }
        :: registration < REGISTRATIONS ->
           d_step { open = 0; listed = 0; queue = 0 }
           goto again
        fi
     fi
  od
}

inline look_up() {
#ifdef EPOCH_LATE
  found = listed;
#endif
  load(me, EPOCH, ACQ, word);
  if
  :: word != epoch ->
     epoch = word;
#ifndef EPOCH_LATE
     found = listed;
#endif
     registration = found
  :: else
  fi;
  atomic { word = 0; found = 0 }
}
/* Of its own process, or of all. */
inline look_rung() {
  if
#ifndef ONE_RUNG
  :: me > MATES -> word = me
#endif
  :: me <= MATES -> word = 1
#if MATES > 1
  :: me <= MATES -> word = 2
#endif
#ifdef ONE_RUNG
  :: word = POSTERS
#endif
  fi;
  load(me, RUNG(registration, word), RLX, rung)
}
inline note_rung() {
#ifdef RUNG_NEW
  load(me, ARMED(registration), ACQ, armed);
#endif
  store(me, RUNG(registration, me), armed, RLX)
}
/* ECONNREFUSED where the registration is not there any more. */
inline send() {
  do
  :: atomic { open == registration && queue < QUEUE -> put(me); break }
  :: open != registration || queue == QUEUE -> break
#ifdef OTHER
  :: me > MATES && open == registration ->
#ifdef EAGAIN_COUNTS
     break
#else
     skip
#endif
#endif
  od
}
proctype poster(byte me) {
  byte n, epoch, registration, found, word, armed, rung;
  {
#ifdef ONE_RUNG
    if
    :: me > MATES ->
       look_up();
       if
       :: registration -> load(me, ARMED(registration), ACQ, armed); note_rung(); n = POSTS
       :: else
       fi
    :: else
    fi;
#endif
    do
    :: n == POSTS -> break
    :: else ->
       n++;
       store_agreed(me, GENERATION(me), n);
#ifndef NO_POST_FENCE
       full_fence(me);
#endif
       look_up();
       if
       :: registration == 0
       :: else ->
          load(me, ARMED(registration), ACQ, armed);
          atomic { look_rung(); word = (rung == armed); rung = 0 }
          if
          :: word
          :: else ->
#ifdef RUNG_FIRST
             note_rung();
             send()
#else
             send();
             note_rung()
#endif
          fi;
          atomic { word = 0; armed = 0 }
       fi
    od
  } unless { me == 1 && may_kill -> killed = true }
}
proctype killer() { if :: may_kill = true :: skip fi }

active proctype monitor() {
  byte p = 1;
  end: timeout ->
  do
  :: p <= POSTERS -> assert(seen[p] == NEWEST(GENERATION(p)) || (p == 1 && killed)); p++   /* I1 */
  :: else -> break
  od;
#ifdef KILL
  atomic { full_fence(1); tells(1, 0); timer = true };
  end_rechecked: timeout -> assert(seen[1] == NEWEST(GENERATION(1)))                       /* I2 */
#endif
}

init {
  byte i = 1;
  atomic {
    start_memory();
    run observer();
    do :: i <= POSTERS -> run poster(i); i++ :: else -> break od;
#ifdef KILL
    run killer();
#endif
  }
}
