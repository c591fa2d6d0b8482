-- name: InsertSchedule :one
insert into schedules (id, team_id, workflow, place, version, spec, input, paused, planned_at, due_at, created_by)
values (@id, @team_id, @workflow, sqlc.narg(place), sqlc.narg(version), @spec, sqlc.narg(input), @paused,
    sqlc.narg(planned_at), sqlc.narg(due_at), @created_by)
returning *;

-- name: UpdateSchedule :one
update schedules set spec = @spec, input = sqlc.narg(input), paused = @paused, version = sqlc.narg(version),
    planned_at = sqlc.narg(planned_at), due_at = sqlc.narg(due_at), updated_at = now()
where id = @id
returning *;

-- name: DeleteSchedule :exec
delete from schedules where id = @id;

-- name: DeletePublishedSchedules :exec
-- Those of a definition from a place of its list on.
delete from schedules where team_id = @team_id and workflow = @workflow and place >= @place::int;

-- name: ScheduleByID :one
select * from schedules where id = @id and team_id = @team_id;

-- name: LockSchedule :one
select * from schedules where id = @id and team_id = @team_id for update;

-- name: LockScheduleAlone :one
select * from schedules where id = @id for update;

-- name: LockPublishedSchedules :many
select * from schedules where team_id = @team_id and workflow = @workflow and place is not null
order by place for update;

-- name: ListSchedules :many
-- By id; after is the last id of the page before.
select * from schedules
where team_id = @team_id and id > @after and (sqlc.narg(workflow)::text is null or workflow = sqlc.narg(workflow))
order by id
limit @page_size;

-- name: CountSchedules :one
select count(*) from schedules where team_id = @team_id and workflow = @workflow;

-- name: TakeDueSchedule :one
-- The one that waits longest, unless another replica has it.
select * from schedules where due_at <= now() order by due_at limit 1 for update skip locked;

-- name: TakeBufferedSchedule :one
-- One whose buffered tick waits for nobody any more.
select s.* from schedules s
where exists (select from ticks t where t.schedule_id = s.id and t.outcome is null)
    and not exists (select from executions e where e.id = any(s.running) and e.finished_at is null)
order by s.updated_at limit 1 for update of s skip locked;

-- name: SchedulesToDo :one
-- What there may be to do, and the seconds until the next tick is due: an hour when there is none.
select coalesce(min(s.due_at) <= now(), false)::bool as due,
    coalesce(extract(epoch from min(s.due_at) - clock_timestamp()), 3600)::float8 as seconds,
    exists (select from ticks where outcome is null)::bool as buffered,
    exists (select from backfills where planned_at is not null)::bool as backfilling
from schedules s;

-- name: SetScheduleProgress :exec
update schedules set planned_at = sqlc.narg(planned_at), due_at = sqlc.narg(due_at), running = @running::uuid[] where id = @id;

-- name: PostponeSchedule :exec
-- After a fault: what is planned stays planned.
update schedules set due_at = case when planned_at is not null then now() + interval '30 seconds' end, updated_at = now()
where id = @id;

-- name: OpenExecutions :many
select id from executions where id = any(@ids::uuid[]) and finished_at is null;

-- name: RecordTicks :execrows
-- One outcome for many instants; those that have a row keep it.
insert into ticks (schedule_id, scheduled_at, outcome, reason)
select @schedule_id, unnest(@instants::timestamptz[]), @outcome::text, @reason
on conflict do nothing;

-- name: RecordTick :exec
insert into ticks (schedule_id, scheduled_at, backfill_id, outcome, execution_id, reason)
values (@schedule_id, @scheduled_at, sqlc.narg(backfill_id), sqlc.narg(outcome), sqlc.narg(execution_id), @reason);

-- name: BufferedTick :one
select scheduled_at from ticks where schedule_id = @schedule_id and outcome is null;

-- name: SettleBufferedTick :exec
update ticks set outcome = @outcome::text, execution_id = sqlc.narg(execution_id), reason = @reason, at = now()
where schedule_id = @schedule_id and outcome is null;

-- name: TickExists :one
select exists (select from ticks where schedule_id = @schedule_id and scheduled_at = @scheduled_at and backfill_id is null);

-- name: ListTicks :many
-- Newest first; before and before_at are the last line of the page before.
select * from ticks
where schedule_id = @schedule_id
    and (sqlc.narg(before)::timestamptz is null
        or (scheduled_at, at) < (sqlc.narg(before)::timestamptz, sqlc.narg(before_at)::timestamptz))
order by scheduled_at desc, at desc
limit @page_size;

-- name: LastTicks :many
-- The newest ticks of each schedule.
select t.* from unnest(@ids::uuid[]) as s(id)
cross join lateral (
    select * from ticks where schedule_id = s.id order by scheduled_at desc, at desc limit @each
) t;

-- name: ForgetOldTicks :exec
delete from ticks where outcome is not null and at < now() - interval '90 days';

-- name: InsertBackfill :exec
insert into backfills (id, schedule_id, planned_at, until, max_parallel, created_by)
values (@id, @schedule_id, @planned_at, @until, @max_parallel, @created_by);

-- name: TakeBackfill :one
-- Any one that has something to start and room for it; by chance, so that a faulty one stops no other.
select b.* from backfills b
where b.planned_at is not null and b.max_parallel >
    (select count(*) from executions e where e.id = any(b.running) and e.finished_at is null)
order by random() limit 1 for update of b skip locked;

-- name: SetBackfillProgress :exec
update backfills set planned_at = sqlc.narg(planned_at), running = @running::uuid[] where id = @id;

-- name: CancelBackfill :execrows
update backfills b set planned_at = null
from schedules s
where b.id = @id and b.schedule_id = @schedule_id and s.id = b.schedule_id and s.team_id = @team_id and b.planned_at is not null;

-- name: BackfillExists :one
select exists (select from backfills b join schedules s on s.id = b.schedule_id
    where b.id = @id and s.id = @schedule_id and s.team_id = @team_id);

-- name: SealedSchedules :many
-- Of all teams: those whose input is sealed.
select id, input from schedules where input::text like '{"$sealed"%' order by id;

-- name: ResealSchedule :execrows
-- Unless somebody has changed it meanwhile.
update schedules set input = @input where id = @id and input::text = @before::text;
