-- name: HistoryAfter :many
-- Flushes that hold events after a seq, in order, at most page_size of them.
select first_seq, last_seq, events from history
where execution_id = @execution_id and last_seq > @after
order by first_seq
limit @page_size;

-- name: HistoriesFrom :many
-- For each execution its flushes that begin after what is already known of it.
select h.execution_id, h.first_seq, h.last_seq, h.events
from rows from (unnest(@ids::uuid[]), unnest(@known::bigint[])) as u(id, known)
join history h on h.execution_id = u.id and h.first_seq > u.known
order by h.execution_id, h.first_seq;

-- name: Checkpoints :many
select * from checkpoints where execution_id = any(@ids::uuid[]);

-- name: LastSeq :one
select last_seq from history where execution_id = @execution_id order by first_seq desc limit 1;
