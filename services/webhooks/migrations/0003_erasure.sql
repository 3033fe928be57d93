-- Erasure (K4): what is kept here of a review goes with what was taken out of its stream.
alter table webhooks.deliveries drop constraint deliveries_dead_reason_check;
alter table webhooks.deliveries add constraint deliveries_dead_reason_check
  check (dead_reason in ('attempts_exhausted', 'gone', 'endpoint_unavailable', 'review_erased'));

-- An endpoint says with which status it failed last, and not what it answered: an answer is its delivery's, and may repeat what was sent.
create function webhooks.keep_status_only() returns trigger
language plpgsql
as $$
begin
  new.last_error := coalesce(substring(new.last_error from '^HTTP [0-9]+'), new.last_error);
  return new;
end $$;
create trigger keep_status_only before update of last_error on webhooks.endpoints for each row execute function webhooks.keep_status_only();
update webhooks.endpoints set last_error = last_error where last_error is not null;

-- Takes away the bodies, what was answered to them, and all of the address but its origin. What still waits is given up, since there is
-- nothing left to send; an attempt that is running has its bytes, and what comes of it is no longer written down.
create function webhooks.erase(erased uuid[], most integer) returns void
language plpgsql
set enable_seqscan = off
as $$
declare
  locked bigint[];
  at_time timestamptz;
begin
  select array_agg(id) into locked from (
    select id from webhooks.endpoints where id in (select endpoint from webhooks.deliveries where review = any(erased))
    order by id for no key update
  ) in_order;
  if locked is null then
    return;
  end if;
  at_time := webhooks.time_now();

  delete from webhooks.attempts a using webhooks.deliveries d where d.review = any(erased) and a.delivery = d.id and a.outcome is null;
  update webhooks.attempts a set response_preview = null, error = coalesce(substring(a.error from '^HTTP [0-9]+'), a.error)
  from webhooks.deliveries d where d.review = any(erased) and a.delivery = d.id;

  update webhooks.deliveries d set body = null, url = e.origin, last_error = coalesce(substring(d.last_error from '^HTTP [0-9]+'), d.last_error)
  from webhooks.endpoints e where d.review = any(erased) and e.id = d.endpoint;
  update webhooks.deliveries set status = 'failed', next_attempt_at = null, lease = null, expedited = false, dead_reason = 'review_erased',
    last_error = 'The review was erased before this delivery had arrived.', settled_at = at_time, unrecorded = true
  where review = any(erased) and status = 'pending';
  perform webhooks.set_due_times(locked, at_time, most);
end $$;
