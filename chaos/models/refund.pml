/*
 * Model of the refund of one payment: a business that requests it, two replicas that send it, a processor without idempotency
 * keys whose effects may be late, an operator, and failures at any step. The search visits all states and looks for an order of
 * events in which Amana refunds twice, or its records differ from the processor at the end.
 *
 * OLD_BASELINE, OLD_RESEND, OLD_CODE_7, NO_WAIT and ANY_REFUSAL each remove one rule. The search must then find a counterexample.
 *
 * Assumptions, modelled as guards: the time L (REFUND_LATE_EFFECT_SECONDS) after a send ends only when no call of that send is in
 * flight (`late_over`). A process that was frozen for longer than L between marking and sending does not send.
 *
 * Not modelled: all times except L, so every wait may have any length; stale status reads (a read is current when it is made, but
 * may be old when it is used); a freeze between the check of the clock and the system call that sends; a failover during a call; a
 * failover and a back office in one run; a back office refund of exactly the amount of a refund in progress; reversals; more than
 * two refunds, two automatic sends of each refund and one send by order of the operator; idempotency keys, events, and transaction isolation.
 */
#define PAID 4
#define SENDS_MAX 2

mtype = { NONE, REQUESTED, SENT, UNKNOWN, ACCEPTED, REJECTED, NOT_SENT };
mtype = { CONFIRMED, REFUSED, CODE_7, LOST };                   /* the result that the sender receives */
#define NO_DECISION 0
#define TIME_OVER 1
#define UNEXPLAINED 2

typedef Refund {
  mtype status = NONE;
  byte amount, sends;
  byte holder;                                                  /* replica that has the lease */
  byte decision_reason;                                         /* reason why a decision is needed */
  bool decided, ordered, may_resend, late_over;
  byte before;                                                  /* refunded amount before the send */
  byte in_flight;                                               /* calls in flight that may still take effect */
}
Refund refund[2];
byte refund_count;                                              /* number of refunds; only the last may be active */
bool refunded;                                                  /* the payment is REFUNDED in Amana's records */
byte processor_amount, amana_effects;                           /* refunded amount at the processor; number of effects of Amana's calls */
bool disturbed;                                                 /* a failover or the back office has interfered */
byte marked[3];                                                 /* per replica: refund + 1 that is marked as sent, but not sent yet */
bool too_late[3];

#define active(r) (refund[r].status == REQUESTED || refund[r].status == SENT || refund[r].status == UNKNOWN)
#define locked (refund_count > 0 && active(refund_count - 1))
#define last refund[refund_count - 1]
#ifdef NO_WAIT
#define waited true
#else
#define waited (refund_count == 0 || refund[0].status != REJECTED || refund[0].late_over)
#endif

inline take_effect(r) {
  if
  :: processor_amount + refund[r].amount <= PAID ->
     processor_amount = processor_amount + refund[r].amount; amana_effects++;
     printf("the processor refunds %d, now %d\n", refund[r].amount, processor_amount);
     assert(amana_effects == 1);                                /* P1: at most one call has an effect */
     assert(refund[r].status != REJECTED || refund[r].decided)  /* no effect after REJECTED was reported */
  :: else -> printf("the processor rejects more than the remaining amount\n")
  fi
}

inline end(r, new_status) { refund[r].status = new_status; refund[r].decision_reason = NO_DECISION; refund[r].before = 0; printf("refund %d %e\n", r, new_status) }

inline accept(r) {
  if :: active(r) -> end(r, ACCEPTED); refunded = true; assert(amana_effects == 1) :: else fi
}

inline stay_unknown(r) {
  if :: active(r) ->
        if :: refund[r].status == SENT -> refund[r].status = UNKNOWN :: else fi;
        if :: true :: refund[r].decision_reason == NO_DECISION -> refund[r].decision_reason = TIME_OVER fi
     :: else fi
}

proctype Replica(byte me) {
  byte r, read_amount, sends; bool decided, may_send; mtype result;
idle:
  atomic {
    locked;                                                     /* the lease is free, or its holder was killed or is frozen for too long */
    r = refund_count - 1; last.holder = me; sends = last.sends; decided = last.decided;
    may_send = last.decision_reason == NO_DECISION && (sends == 0 || last.may_resend || (last.ordered && last.late_over))
  }
  if :: read_amount = processor_amount
     :: goto release                                            /* killed, or the read failed */
  fi;
  atomic {
    if
#ifdef OLD_BASELINE
    :: sends == 0 -> skip
#else
    :: sends == 0 && read_amount > 0 ->                         /* refunded externally: no refund is sent */
       if :: active(r) && refund[r].sends == 0 -> end(r, NOT_SENT); refunded = true :: else fi;
       goto release
    :: sends == 0 && read_amount == 0 -> skip
#endif
    :: sends > 0 && read_amount == refund[r].before + refund[r].amount && refund[r].decision_reason != UNEXPLAINED -> accept(r); goto release
    :: sends > 0 && read_amount == refund[r].before -> skip
    :: else -> if :: active(r) -> refund[r].decision_reason = UNEXPLAINED; refund[r].status = UNKNOWN :: else fi; goto release
    fi;
    if :: may_send :: !may_send -> stay_unknown(r); goto release fi
  }
  atomic {                                                      /* the transaction that marks the refund as sent commits */
    if
    :: refund[r].holder == me && active(r) && refund[r].sends == sends && refund[r].decided == decided && refund[r].decision_reason == NO_DECISION ->
       refund[r].status = SENT; refund[r].sends++; refund[r].before = read_amount;
       refund[r].ordered = false; refund[r].late_over = false;
       refund[r].may_resend = refund[r].sends < SENDS_MAX && !decided;
#ifndef OLD_RESEND
       refund[r].may_resend = refund[r].may_resend && read_amount + 2 * refund[r].amount > PAID;
#endif
       marked[me] = r + 1; too_late[me] = false
    :: else -> goto release
    fi
  }
  atomic {                                                      /* the process may freeze before this step */
    marked[me] = 0;
    if
    :: goto release                                             /* killed */
    :: too_late[me] -> too_late[me] = false; result = LOST
    :: !too_late[me] ->
       printf("replica %d sends refund %d of %d\n", me, r, refund[r].amount);
       if
       :: processor_amount + refund[r].amount <= PAID -> take_effect(r); if :: result = CONFIRMED :: result = LOST fi
       :: processor_amount + refund[r].amount > PAID -> result = CODE_7
       :: refund[r].in_flight++; if :: result = LOST :: result = CODE_7 fi; printf("the call is in flight: %e\n", result)
       :: if :: result = LOST :: result = CODE_7 :: result = REFUSED fi; printf("the call has no effect: %e\n", result)
       fi
    fi
  }
#ifdef OLD_CODE_7
  if :: result == CODE_7 -> result = REFUSED :: else fi;
#endif
  atomic {
    if
    :: goto release                                             /* killed */
    :: result == CONFIRMED -> accept(r)
    :: result == REFUSED && sends == 0 && processor_amount == refund[r].before ->
       /* If another replica has sent the refund again, the rejection of the first send does not apply to the second. */
#ifdef ANY_REFUSAL
       if :: active(r) -> end(r, REJECTED) :: else fi
#else
       if :: active(r) && refund[r].sends == 1 -> end(r, REJECTED) :: else stay_unknown(r) fi
#endif
    :: else -> stay_unknown(r)
    fi
  }
release:
  atomic { r = 0; read_amount = 0; sends = 0; decided = false; may_send = false; result = 0; too_late[me] = false; goto idle }
}

/* Business, processor, operator, back office and failover, in any order. */
active proctype Environment() {
  do
  :: atomic {                                                   /* the business requests a partial refund: PAID covers two refunds of 2, but not two of 3 */
       refund_count < 2 && !refunded && !locked && waited;
       if :: refund[refund_count].amount = 2 :: refund[refund_count].amount = 3 fi;
       refund[refund_count].status = REQUESTED; refund_count++; printf("a refund of %d of %d is requested\n", last.amount, PAID)
     }
  :: atomic { refund[0].in_flight > 0 -> refund[0].in_flight--; if :: printf("late: "); take_effect(0) :: true fi }
  :: atomic { refund[1].in_flight > 0 -> refund[1].in_flight--; if :: printf("late: "); take_effect(1) :: true fi }
  :: atomic {                                                   /* L is over */
       refund_count > 0 && last.sends > 0 && last.in_flight == 0 && !last.late_over -> last.late_over = true;
       if :: marked[1] == refund_count -> too_late[1] = true :: else fi;
       if :: marked[2] == refund_count -> too_late[2] = true :: else fi
     }
  :: atomic {                                                   /* the operator, who reads the state of the processor */
       locked && last.decision_reason != NO_DECISION && !last.decided -> last.decided = true; last.decision_reason = NO_DECISION;
       if
       :: processor_amount == last.amount && last.sends > 0 -> accept(refund_count - 1)
       :: end(refund_count - 1, REJECTED)
       :: processor_amount == 0 -> last.ordered = true; last.may_resend = false; printf("the operator orders to send again\n")
       fi
     }
  :: atomic { !locked && !refunded && processor_amount > 0 -> refunded = true; printf("a read adopts %d\n", processor_amount) }
  :: atomic { !disturbed && processor_amount < PAID -> disturbed = true; processor_amount++; printf("the back office refunds 1\n") }
  :: atomic {                                                   /* a failover that lost the newest commits: PAID again */
       !disturbed && refund_count == 1 && refund[0].status == ACCEPTED && refund[0].in_flight == 0 && !marked[1] && !marked[2];
       disturbed = true; refund[0].status = NONE; refunded = false; printf("a failover loses the refund\n")
     }
  od
}

init {
  atomic { run Replica(1); run Replica(2) }
  timeout -> assert(locked || refunded == (processor_amount > 0))  /* at the end the records agree, or a decision is needed */
}
