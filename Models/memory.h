/* Shared memory of words with one writer each, under two memory models.

   Each word keeps its history: what its owner stored, in order. What a load may return is
   - with -DTSO (x86): the newest store that has left its owner's first-in-first-out store buffer;
   - without (C11 with fences, the order of arm64 and weaker): any store that is not older than what
     the loading process knows of. It learns of stores by loading with acquire what was stored with
     release, by an acquire fence after a load, and by full fences, which have one total order.
   An owner knows its own stores. As a word has one writer, what is known of a process is a prefix
   of its stores, one number. A message tells of its sender's stores alone: weaker than C11.

   Neither model lets a load be satisfied by a store that is executed later. A store with release is
   there to forbid that too; the models move that store before the load to see that it matters.

   A step of a model is a load with the stores that follow it, or a fence: the stores of a step are
   delayed one by one by either memory model, so that splitting the step adds nothing.

   The model defines before it includes this: P processes, LOCS words, HL entries of history a word,
   OWNER(x). */
#define RLX 0
#define REL 1
#define ACQ 1

byte val[LOCS * HL];      /* what was stored */
byte at[LOCS * HL];       /* as which of its owner's stores */
byte top[LOCS];           /* the newest entry */
byte stored[P];           /* stores a process made */
hidden byte t_, q_, v_;

#define NEWEST(x) val[(x) * HL + top[x]]

/* By a word's owner: one more than it stored before. */
inline increment(me, x, order) {
  atomic { v_ = NEWEST(x) + 1; store(me, x, v_, order) }
}

#ifdef TSO

byte flushed[P];          /* of them, those that left the store buffer */

inline store(me, x, v, order) {
  d_step {
    stored[me]++; top[x]++; assert(top[x] < HL);
    val[(x) * HL + top[x]] = v; at[(x) * HL + top[x]] = stored[me]
  }
}
inline load(me, x, order, into) {
  d_step {
    t_ = top[x];
    do
    :: at[(x) * HL + t_] > flushed[OWNER(x)] -> t_--
    :: else -> break
    od;
    into = val[(x) * HL + t_]
  }
}
inline full_fence(me) { d_step { flushed[me] = stored[me] } }
inline release_fence(me) { skip }
inline acquire_fence(me) { skip }
inline store_agreed(me, x, v) { d_step { store(me, x, v, REL); flushed[me] = stored[me] } }
/* A message over a socket, or a wake-up by the kernel: what the sender did is visible. */
inline tells(from, to) { d_step { flushed[from] = stored[from] } }

proctype flusher(byte me) {
  end: do
  :: d_step { flushed[me] < stored[me] -> flushed[me]++ }
  od
}
inline start_memory() {
  q_ = 0;
  do :: q_ < P -> run flusher(q_); q_++ :: else -> break od
}

#else

byte carries[LOCS * HL];  /* how many of its owner's stores an entry tells of */
byte known[P * P];        /* known[a * P + b]: how many stores of b process a knows of */
byte heard[P * P];        /* the same, once it has executed an acquire fence */
byte ordered[P];          /* stores before the last release fence */
byte agreed[P];           /* stores before the last full fence that knew of them */

inline store(me, x, v, order) {
  d_step {
    stored[me]++; top[x]++; assert(top[x] < HL);
    val[(x) * HL + top[x]] = v; at[(x) * HL + top[x]] = stored[me];
    carries[(x) * HL + top[x]] = (order == REL -> stored[me] : ordered[me]);
    known[me * P + me] = stored[me]
  }
}
#define MAXIMISE(a, b) if :: (a) < (b) -> a = b :: else fi
inline load(me, x, order, into) {
  atomic {
    t_ = top[x];
    do
    :: at[(x) * HL + t_] > known[me * P + OWNER(x)] -> t_--
    :: break
    od;
    into = val[(x) * HL + t_];
    MAXIMISE(heard[me * P + OWNER(x)], carries[(x) * HL + t_]);
    if
    :: order == ACQ -> MAXIMISE(known[me * P + OWNER(x)], carries[(x) * HL + t_])
    :: else
    fi
  }
}
inline full_fence(me) {
  d_step {
    q_ = 0;
    do
    :: q_ < P ->
       MAXIMISE(known[me * P + q_], heard[me * P + q_]);
       MAXIMISE(known[me * P + q_], agreed[q_]);
       agreed[q_] = known[me * P + q_];
       q_++
    :: else -> break
    od;
    ordered[me] = stored[me]
  }
}
inline release_fence(me) { d_step { ordered[me] = stored[me] } }
inline acquire_fence(me) {
  d_step {
    q_ = 0;
    do
    :: q_ < P -> MAXIMISE(known[me * P + q_], heard[me * P + q_]); q_++
    :: else -> break
    od;
    q_ = 0
  }
}
/* A sequentially consistent store or read-modify-write. It has its place among the full fences, but
   is not a fence: what its process does before and after is not ordered by it. */
inline store_agreed(me, x, v) { d_step { store(me, x, v, REL); agreed[me] = stored[me] } }
/* A message over a socket, or a wake-up by the kernel: what the sender knew the receiver knows. */
inline tells(from, to) {
  d_step {
    q_ = 0;
    do
    :: q_ < P -> MAXIMISE(known[to * P + q_], known[from * P + q_]); q_++
    :: else -> break
    od;
    q_ = 0
  }
}
inline start_memory() { skip }

#endif
