-- name: HistoryAfter :many
-- Flushes that hold events after a seq, in order, at most page_size of them.
select first_seq, last_seq, events from history
where execution_id = @execution_id and last_seq > @after
order by first_seq
limit @page_size;

-- name: HistoriesFrom :many
-- For each execution its flushes that begin after what is already known of it. offset 0 makes it a look by key for each
-- of them: a plan made while the table was small would else read all of it for ever. least and most are the bounds of
-- the ids: known when the statement begins, they spare it to prepare for the periods that no id is in.
select f.execution_id, f.first_seq, f.last_seq, f.events
from rows from (unnest(@ids::uuid[]), unnest(@known::bigint[])) as u(id, known)
cross join lateral (
    select * from history h where h.execution_id = u.id and h.first_seq > u.known
        and h.execution_id >= @least::uuid and h.execution_id <= @most::uuid
    order by h.first_seq offset 0
) f
order by f.execution_id, f.first_seq;

-- name: Checkpoints :many
select * from checkpoints where execution_id = any(@ids::uuid[]);

-- name: LastSeq :one
select last_seq from history where execution_id = @execution_id order by first_seq desc limit 1;
