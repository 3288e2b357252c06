/*
 * Model of a key that is revoked while requests use it. A gateway caches a look-up under a lease. Two identity replicas grant
 * leases of different length. Clocks have different speeds, messages and bodies may be slow, and a replica may be killed before
 * it responds. The search visits all states and looks for a request that takes effect although the request or its body arrived
 * after the response to the revocation.
 *
 * OWN_SETTING, NO_MARGIN, HEADERS_ONLY and NO_SECOND_WAIT each remove one rule. The search must then find a counterexample.
 *
 * Assumptions: during a lease and a wait, the clock of the gateway loses at most SLOW, the wait ends at most EARLY too early, and
 * the margin covers both. Every look-up after a commit reads the committed state.
 *
 * Not modelled: several gateways, which share no state; more than two requests and one key; several keys in one look-up; replicas
 * of the database; expiry of keys; the services behind the gateway.
 */
#define LEASE_1 1                                               /* lease of each replica, in ticks */
#define LEASE_2 2
#define LEASE_MAX 2                                             /* longest lease of the protocol */
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

byte now, gateway_now, lost;                                    /* real time, and time of the gateway's clock */
bool revoked, responded;
byte started;                                                   /* the requests do not differ, so they start in numeric order */
byte lease_ends;                                                /* by the gateway's clock; 0: no lease */

active proctype Time() {
  do
  :: atomic { now < TICKS -> now++; if :: gateway_now++ :: lost < SLOW -> lost++ fi }
  :: now == TICKS -> break
  od
}

proctype Request(byte me) {
  byte sent_at, good_until, i; bool is_active, too_late, has_body;
  atomic { started == me - 1; started++; too_late = responded; if :: gateway_now < lease_ends -> good_until = lease_ends; goto admitted :: else fi }
look_up:
  atomic { sent_at = gateway_now; if :: i = 1 :: i = 2 fi }
  atomic { is_active = !revoked; printf("replica %d responds to request %d at %d: key active %d\n", i, me, now, is_active) }
  atomic {                                                      /* the response is received */
    if
    :: is_active ->
       if :: sent_at + granted(i) > gateway_now && sent_at + granted(i) > lease_ends -> lease_ends = sent_at + granted(i) :: else fi;
       good_until = sent_at + LEASE_MAX
    :: else -> goto rejected
    fi;
    sent_at = 0; i = 0; is_active = false
  }
admitted:
  atomic { if :: responded && !has_body -> too_late = true :: else fi; has_body = true }  /* the last byte of the body is received */
#ifndef HEADERS_ONLY
  atomic { if :: gateway_now >= good_until -> good_until = 0; goto look_up :: else fi }
#endif
  assert(!too_late);                                            /* the request takes effect */
rejected:
  atomic { sent_at = 0; good_until = 0; i = 0; is_active = false; too_late = false; has_body = false }
}

active proctype Revocation() {
  byte i, wait_started;
  if :: i = 1 :: i = 2 fi;
  atomic { revoked = true; wait_started = now; printf("replica %d revokes at %d\n", i, now) }
  if
  :: true
  :: atomic {                                                   /* killed before it responds; the request is repeated at the other replica */
       i = 3 - i; wait_started = now; printf("the revocation is repeated at replica %d at %d\n", i, now);
#ifdef NO_SECOND_WAIT
       goto respond
#endif
     }
  fi;
  if :: now >= wait_started + to_wait(i) - EARLY fi;
respond:
  atomic { responded = true; printf("replica %d responds at %d\n", i, now) }
}

init { atomic { run Request(1); run Request(2) } }
