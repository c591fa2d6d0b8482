-- name: ForgetOldPaces :exec
delete from paces where next_at < now() - interval '1 hour';

-- name: ForgetEnded :one
-- What something still wakes is left for the next round. A history stays if its period goes soon as a whole.
with doomed as (
    select e.id, not exists (
        select from history_periods p where e.id >= first_id(p.begins_at) and e.id < first_id(p.ends_at)
            and p.closing_since + (p.ends_at - p.begins_at) + interval '1 day' > now()
    ) as alone
    from executions e join teams t on t.id = e.team_id
    where e.keep_until <= now() and e.finished_at + retention_of(t.policy) <= now()
        and not exists (select from ready r where r.execution_id = e.id)
    order by e.keep_until limit @batch for update of e skip locked
), histories as (
    delete from history h using doomed where h.execution_id = doomed.id and doomed.alone
), checkpoints_of as (
    delete from checkpoints c using doomed where c.execution_id = doomed.id
), tasks_of as (
    delete from tasks t using doomed where t.execution_id = doomed.id
), logs as (
    delete from activity_logs l using doomed where l.execution_id = doomed.id
), uses as (
    delete from file_uses u using doomed where u.execution_id = doomed.id
), gone as (
    delete from executions e using doomed where e.id = doomed.id returning e.id
)
select count(*)::int from gone;

-- name: ForgetUnusedFiles :exec
delete from files f where f.created_at < now() - interval '24 hours'
    and not exists (select from file_uses u where u.file_id = f.id);
