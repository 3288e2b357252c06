/*
 * A key that is revoked while requests use it: a gateway that believes a look-up for a while, two identity replicas that grant
 * different times, clocks of different speeds, slow messages, slow bodies, and a replica killed before it answers. Searched
 * exhaustively for a request that acts although it, or its body, came after the answer to the revocation.
 *
 * OWN_SETTING, NO_MARGIN, HEADERS_ONLY and NO_SECOND_WAIT take away one rule each; with each the search must fail.
 *
 * Assumed: within a lease and a wait together, the gateway's clock loses no more than SLOW and the wait ends no more than
 * EARLY too early, and the margin covers both. What is committed is seen by every later look-up.
 *
 * Left out: more than one gateway, which share nothing; more than two requests and one key; that several keys share a
 * look-up; the database's own replicas; expiry; what the services behind the gateway do with a request that it let in.
 */
#define LEASE_1 1                                               /* what each replica grants, in ticks */
#define LEASE_2 2
#define LEASE_MAX 2                                             /* the protocol's longest */
#define SLOW 1
#define EARLY 1
#define TICKS 5
#ifdef NO_MARGIN
#define MARGIN 0
#else
#define MARGIN (SLOW + EARLY)
#endif
#define granted(i) (i == 1 -> LEASE_1 : LEASE_2)
#ifdef OWN_SETTING
#define to_wait(i) (granted(i) + MARGIN)
#else
#define to_wait(i) (LEASE_MAX + MARGIN)
#endif

byte now, gateway_now, lost;                                    /* true time, and what the gateway's clock shows */
bool revoked, answered;
byte begun;                                                     /* requests begin in the order of their numbers: they are alike */
byte lease_ends;                                                /* by the gateway's clock; 0: none */

active proctype Time() {
  do
  :: atomic { now < TICKS -> now++; if :: gateway_now++ :: lost < SLOW -> lost++ fi }
  :: now == TICKS -> break
  od
}

proctype Request(byte me) {
  byte sent_at, good_until, i; bool live, too_late, has_body;
  atomic { begun == me - 1; begun++; too_late = answered; if :: gateway_now < lease_ends -> good_until = lease_ends; goto admitted :: else fi }
look_up:
  atomic { sent_at = gateway_now; if :: i = 1 :: i = 2 fi }
  atomic { live = !revoked; printf("replica %d says to request %d at %d: live %d\n", i, me, now, live) }
  atomic {                                                      /* the answer comes */
    if
    :: live ->
       if :: sent_at + granted(i) > gateway_now && sent_at + granted(i) > lease_ends -> lease_ends = sent_at + granted(i) :: else fi;
       good_until = sent_at + LEASE_MAX
    :: else -> goto refused
    fi;
    sent_at = 0; i = 0; live = false
  }
admitted:
  atomic { if :: answered && !has_body -> too_late = true :: else fi; has_body = true }  /* the last byte of its body is there */
#ifndef HEADERS_ONLY
  atomic { if :: gateway_now >= good_until -> good_until = 0; goto look_up :: else fi }
#endif
  assert(!too_late);                                            /* it acts */
refused:
  atomic { sent_at = 0; good_until = 0; i = 0; live = false; too_late = false; has_body = false }
}

active proctype Revocation() {
  byte i, began;
  if :: i = 1 :: i = 2 fi;
  atomic { revoked = true; began = now; printf("replica %d revokes at %d\n", i, now) }
  if
  :: true
  :: atomic {                                                   /* killed before it answers; the other one is asked again */
       i = 3 - i; began = now; printf("replica %d is asked again at %d\n", i, now);
#ifdef NO_SECOND_WAIT
       goto answer
#endif
     }
  fi;
  if :: now >= began + to_wait(i) - EARLY fi;
answer:
  atomic { answered = true; printf("replica %d answers at %d\n", i, now) }
}

init { atomic { run Request(1); run Request(2) } }
