-- Totals of payment links. The trigger is part of the statement that changes the payment, so the
-- totals always equal the money movements of the link's payments. The link's row is locked until
-- the commit, like in StartCheckout: a slot that a payment used is never counted twice.
create function count_payment_link() returns trigger language plpgsql as $$
  begin
    update payment_link l
    set payments_paid = l.payments_paid + (new.type = 'PAYMENT')::int,
        amount_paid_minor = l.amount_paid_minor + case when new.type = 'PAYMENT' then new.amount_minor else 0 end,
        amount_refunded_minor = l.amount_refunded_minor - case when new.type = 'PAYMENT' then 0 else new.amount_minor end,
        version = l.version + 1
    from payment p
    where p.business_id = new.business_id and p.id = new.payment_id
      and l.business_id = p.business_id and l.id = p.payment_link_id;
    return null;
  end
$$;
create trigger count_payment_link after insert on money_movement for each row execute function count_payment_link();
