/*
 * The refund of one payment: a business that asks for it, two replicas that send it, a processor without idempotency keys
 * whose effects may come late, an operator, and all that can go wrong at any step. Searched exhaustively for an order of
 * events in which calls of ours give back twice, or the books are wrong in the end.
 *
 * OLD_BASELINE, OLD_RESEND, OLD_CODE_7, NO_WAIT and ANY_REFUSAL take away one rule each; with each the search must fail.
 *
 * Assumed, and here a guard: the time L (REFUND_LATE_EFFECT_SECONDS) after a send ends only when nothing of it is under way
 * any more (`late_over`), and a process that was frozen for so long between marking and sending does not send.
 *
 * Left out: all time but L, so that every wait may be of any length; status reads that show the past (one is true when it is
 * made and may be old when it is acted on); a freeze between the look at the clock and the system call that sends; a
 * failover while a call is under way; a failover and a back office in one run; a back office that gives back exactly the
 * amount of a refund under way; reversals; more than two refunds, two sends of each by itself and one more by order;
 * idempotency keys, events, and how the database makes a transaction atomic.
 */
#define PAID 4
#define SENDS_MAX 2

mtype = { NONE, REQUESTED, SENT, UNKNOWN, ACCEPTED, REJECTED, NOT_SENT };
mtype = { GIVEN, REFUSED, CODE_7, LOST };                       /* what the sender learns */
#define NOBODY 0
#define TIME_OVER 1
#define UNEXPLAINED 2

typedef Refund {
  mtype status = NONE;
  byte amount, sends;
  byte holder;                                                  /* the replica whose lease it is */
  byte person;                                                  /* why one has to decide */
  bool decided, ordered, may_resend, late_over;
  byte before;                                                  /* what was given back before it was sent */
  byte under_way;                                               /* calls that may still take effect */
}
Refund refund[2];
byte asked;                                                     /* how many refunds; only the last may be active */
bool refunded;                                                  /* the payment, in our books */
byte given, our_effects;                                        /* the processor's books */
bool disturbed;                                                 /* by a failover, or the back office */
byte marked[3];                                                 /* per replica: "sent" in the books, not sent yet: refund + 1 */
bool too_late[3];

#define active(r) (refund[r].status == REQUESTED || refund[r].status == SENT || refund[r].status == UNKNOWN)
#define locked (asked > 0 && active(asked - 1))
#define last refund[asked - 1]
#ifdef NO_WAIT
#define waited true
#else
#define waited (asked == 0 || refund[0].status != REJECTED || refund[0].late_over)
#endif

inline take_effect(r) {
  if
  :: given + refund[r].amount <= PAID ->
     given = given + refund[r].amount; our_effects++;
     printf("the processor gives back %d, now %d\n", refund[r].amount, given);
     assert(our_effects == 1);                                  /* P1: one call, of whichever refund */
     assert(refund[r].status != REJECTED || refund[r].decided)  /* nor after we said that it was refused */
  :: else -> printf("the processor refuses more than remains\n")
  fi
}

inline end(r, how) { refund[r].status = how; refund[r].person = NOBODY; refund[r].before = 0; printf("refund %d %e\n", r, how) }

inline accept(r) {
  if :: active(r) -> end(r, ACCEPTED); refunded = true; assert(our_effects == 1) :: else fi
}

inline stay_unknown(r) {
  if :: active(r) ->
        if :: refund[r].status == SENT -> refund[r].status = UNKNOWN :: else fi;
        if :: true :: refund[r].person == NOBODY -> refund[r].person = TIME_OVER fi
     :: else fi
}

proctype Replica(byte me) {
  byte r, seen, sends; bool decided, may_send; mtype answer;
idle:
  atomic {
    locked;                                                     /* the lease is free, or its holder dead or frozen for too long */
    r = asked - 1; last.holder = me; sends = last.sends; decided = last.decided;
    may_send = last.person == NOBODY && (sends == 0 || last.may_resend || (last.ordered && last.late_over))
  }
  if :: seen = given
     :: goto gone                                               /* killed, or the read failed */
  fi;
  atomic {
    if
#ifdef OLD_BASELINE
    :: sends == 0 -> skip
#else
    :: sends == 0 && seen > 0 ->                                /* given back without us: nothing is sent */
       if :: active(r) && refund[r].sends == 0 -> end(r, NOT_SENT); refunded = true :: else fi;
       goto gone
    :: sends == 0 && seen == 0 -> skip
#endif
    :: sends > 0 && seen == refund[r].before + refund[r].amount && refund[r].person != UNEXPLAINED -> accept(r); goto gone
    :: sends > 0 && seen == refund[r].before -> skip
    :: else -> if :: active(r) -> refund[r].person = UNEXPLAINED; refund[r].status = UNKNOWN :: else fi; goto gone
    fi;
    if :: may_send :: !may_send -> stay_unknown(r); goto gone fi
  }
  atomic {                                                      /* the commit that says "sent" */
    if
    :: refund[r].holder == me && active(r) && refund[r].sends == sends && refund[r].decided == decided && refund[r].person == NOBODY ->
       refund[r].status = SENT; refund[r].sends++; refund[r].before = seen;
       refund[r].ordered = false; refund[r].late_over = false;
       refund[r].may_resend = refund[r].sends < SENDS_MAX && !decided;
#ifndef OLD_RESEND
       refund[r].may_resend = refund[r].may_resend && seen + 2 * refund[r].amount > PAID;
#endif
       marked[me] = r + 1; too_late[me] = false
    :: else -> goto gone
    fi
  }
  atomic {                                                      /* a freeze may lie before this */
    marked[me] = 0;
    if
    :: goto gone                                                /* killed */
    :: too_late[me] -> too_late[me] = false; answer = LOST
    :: !too_late[me] ->
       printf("replica %d sends refund %d of %d\n", me, r, refund[r].amount);
       if
       :: given + refund[r].amount <= PAID -> take_effect(r); if :: answer = GIVEN :: answer = LOST fi
       :: given + refund[r].amount > PAID -> answer = CODE_7
       :: refund[r].under_way++; if :: answer = LOST :: answer = CODE_7 fi; printf("it is under way: %e\n", answer)
       :: if :: answer = LOST :: answer = CODE_7 :: answer = REFUSED fi; printf("it has no effect: %e\n", answer)
       fi
    fi
  }
#ifdef OLD_CODE_7
  if :: answer == CODE_7 -> answer = REFUSED :: else fi;
#endif
  atomic {
    if
    :: goto gone                                                /* killed */
    :: answer == GIVEN -> accept(r)
    :: answer == REFUSED && sends == 0 && given == refund[r].before ->
       /* A refusal of the first send says nothing of one that somebody else made meanwhile. */
#ifdef ANY_REFUSAL
       if :: active(r) -> end(r, REJECTED) :: else fi
#else
       if :: active(r) && refund[r].sends == 1 -> end(r, REJECTED) :: else stay_unknown(r) fi
#endif
    :: else -> stay_unknown(r)
    fi
  }
gone:
  atomic { r = 0; seen = 0; sends = 0; decided = false; may_send = false; answer = 0; too_late[me] = false; goto idle }
}

/* Everybody else, in any order. */
active proctype World() {
  do
  :: atomic {                                                   /* the business asks: a part of which two fit, or not */
       asked < 2 && !refunded && !locked && waited;
       if :: refund[asked].amount = 2 :: refund[asked].amount = 3 fi;
       refund[asked].status = REQUESTED; asked++; printf("a refund of %d of %d is asked for\n", last.amount, PAID)
     }
  :: atomic { refund[0].under_way > 0 -> refund[0].under_way--; if :: printf("late: "); take_effect(0) :: true fi }
  :: atomic { refund[1].under_way > 0 -> refund[1].under_way--; if :: printf("late: "); take_effect(1) :: true fi }
  :: atomic {                                                   /* L is over */
       asked > 0 && last.sends > 0 && last.under_way == 0 && !last.late_over -> last.late_over = true;
       if :: marked[1] == asked -> too_late[1] = true :: else fi;
       if :: marked[2] == asked -> too_late[2] = true :: else fi
     }
  :: atomic {                                                   /* the operator, who sees what the processor says */
       locked && last.person != NOBODY && !last.decided -> last.decided = true; last.person = NOBODY;
       if
       :: given == last.amount && last.sends > 0 -> accept(asked - 1)
       :: end(asked - 1, REJECTED)
       :: given == 0 -> last.ordered = true; last.may_resend = false; printf("the operator orders to send again\n")
       fi
     }
  :: atomic { !locked && !refunded && given > 0 -> refunded = true; printf("a read takes over %d\n", given) }
  :: atomic { !disturbed && given < PAID -> disturbed = true; given++; printf("the back office gives back 1\n") }
  :: atomic {                                                   /* a failover that lost the newest commits: PAID again */
       !disturbed && asked == 1 && refund[0].status == ACCEPTED && refund[0].under_way == 0 && !marked[1] && !marked[2];
       disturbed = true; refund[0].status = NONE; refunded = false; printf("a failover loses the refund\n")
     }
  od
}

init {
  atomic { run Replica(1); run Replica(2) }
  timeout -> assert(locked || refunded == (given > 0))          /* in the end the books agree, or a person decides */
}
