/* Which pools are sent and kept (PublisherCore.show, StreamServer.offer, PublisherLine.accept,
   Subscriber.judge): the publisher changes its pool at any moment, for larger pictures or more
   holds; a reader has come at some moment, and wants every frame of the ring.

   Invariants:
   I1  no frame that stands in the ring is unreachable: its pool is there, or on its way;
   I2  when nothing can move any more, a lossless reader has received every frame.

   Control plane and reader keep pools by the same rule, so one list stands for both: a newcomer is
   sent what is in it. Messages come in order, at any later moment. All is of one order here: the
   reader learns of a pool by its message alone, and of frames as in `ring`.

   Bounds: N frames, a ring of D, POOLS pools, two loans, which are published in any order.

   Rules that a define breaks: TWO_KEPT (only the newest before), SENT_EARLY with it (a pool is sent
   when it is made), RING_IGNORED (what stands in the ring is not asked), LOANS_IGNORED (nor what is
   on loan), UNSEEN_SKIPPED (nor the pool of an older loan sent, of which no frame was published). */
#ifndef D
#define D 2
#endif
#ifndef N
#define N 5
#endif
#ifndef POOLS
#define POOLS 4
#endif

chan sent = [POOLS] of { byte, byte };
byte pool[D];                                      /* that the frame of this index lies in */
byte published, position, shown = 1, newest = 1;
bool kept[POOLS + 1];
byte loans[2], out;

inline lower(a, b) { if :: b < a -> a = b :: else fi }
inline send(what) {
  byte from = what;
  byte j = 0;
  do
  :: j < D ->
#ifndef RING_IGNORED
     if :: pool[j] > 0 -> lower(from, pool[j]) :: else fi;
#endif
     j++
  :: else -> break
  od;
#ifndef LOANS_IGNORED
  if :: loans[0] > 0 -> lower(from, loans[0]) :: else fi;
  if :: loans[1] > 0 -> lower(from, loans[1]) :: else fi;
#endif
#ifdef TWO_KEPT
  from = shown;
#endif
  byte other = loans[1 - i];
  if
  :: other > shown && other < what ->
#ifndef UNSEEN_SKIPPED
     sent ! other, from
#else
     skip
#endif
  :: else
  fi;
  sent ! what, from;
  shown = what
}

proctype publisher() {
  byte i, g;
  do
  :: published == N -> break
  :: atomic {
       newest < POOLS && published < N -> newest++;
#ifdef SENT_EARLY
       send(newest)
#endif
     }
  :: atomic {
       published + out < N && (loans[0] == 0 || loans[1] == 0);
#ifdef LOSSLESS
       position + D >= published + 1 + out;
#endif
       if :: loans[0] == 0 -> loans[0] = newest :: else -> loans[1] = newest fi;
       out++
     }
  :: atomic {
       out > 0;
       if :: loans[0] > 0 -> i = 0 :: loans[1] > 0 -> i = 1 fi;
       g = loans[i];
       if :: g > shown -> send(g) :: else fi;
       pool[published % D] = g;
       published++; out--; loans[i] = 0; i = 0; g = 0
     }
  od
}

proctype reader() {
  byte wanted, from, what, j;
  bool waits;
  /* It comes. */
#ifndef LOSSLESS
  position = (published > D -> published - D : 0);
#endif
  end: do
  :: atomic {
       nempty(sent) && !waits -> skip
     }
     hear: atomic {
       sent ? what, from;
       j = 1;
       do
       :: j < what -> kept[j] = kept[j] && j >= from; j++
       :: else -> break
       od;
       kept[what] = true; waits = false; what = 0; from = 0; j = 0
     }
  :: atomic {
       !waits && position < published ->
       if
       :: position + D < published -> position = published - D
       :: else
       fi;
       wanted = pool[position % D]
     };
     /* Pinned; its pool is looked for later. */
     atomic {
       if
       :: kept[wanted] -> position++
       :: else ->
          /* Older than one that is there: it is not waited for. */
          j = wanted;
          do
          :: j <= POOLS && !kept[j] -> j++
          :: else -> break
          od;
#ifdef LOSSLESS
          assert(j > POOLS);                                               /* I1 */
#else
          assert(j > POOLS || position + D < published);
#endif
          waits = (j > POOLS); position = (waits -> position : position + 1)
       fi;
       wanted = 0; j = 0
     }
  :: waits && nempty(sent) -> goto hear
  od
}

active proctype monitor() {
  end: timeout ->
#ifdef LOSSLESS
  assert(position == published)                                            /* I2 */
#else
  skip
#endif
}

init {
  atomic { kept[1] = true; run publisher(); run reader() }
}
