-- name: FireTimers :many
-- Wakes the executions whose timer is due, earliest first. from_due is a low watermark: it spares the scan over the dead
-- index entries of timers that fired. Rows are deleted by an array of ids: whatever the planner thinks of the batch, it
-- does not read the table for it.
with first as (
    select timers.execution_id from timers where timers.due_at <= now() and timers.due_at >= @from_due
    order by timers.due_at, timers.execution_id limit @batch for update skip locked
), due as (
    delete from timers t where t.execution_id = any(array(select first.execution_id from first))
    returning t.execution_id, t.due_at
), woken as (
    select wake(array_agg(due.execution_id)) from due having count(*) > 0
)
select due.execution_id, due.due_at from due, woken order by due.due_at, due.execution_id;

-- name: NextTimer :one
-- Seconds until the next timer; -1 when there is none, 0 when it is due.
select (case when min(due_at) is null then -1 else greatest(extract(epoch from min(due_at) - now()), 0) end)::float8 as seconds
from timers where due_at >= @from_due;
