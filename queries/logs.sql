-- name: AppendLog :execrows
-- 0 rows: there is a batch that begins with this line.
insert into activity_logs (execution_id, activity, item, attempt, first_line, lines)
values (@execution_id, @activity, @item, @attempt, @first_line, @lines) on conflict do nothing;

-- name: LogAttempts :many
select distinct attempt from activity_logs
where execution_id = @execution_id and activity = @activity and item = @item order by attempt;

-- name: LogBatches :many
select first_line, lines from activity_logs
where execution_id = @execution_id and activity = @activity and item = @item and attempt = @attempt
order by first_line;
