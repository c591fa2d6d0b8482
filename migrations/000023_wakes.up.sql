-- A row of the queue counts its wake-ups from a number that no earlier row of its execution had, so that what an owner
-- writes late, or a second time because the answer was lost, does not pass for the row that came after.
create or replace function wake(ids uuid[]) returns void language plpgsql as $$
begin
    insert into ready (execution_id, partition, turn, team_id, workflow, priority, deadline, queue, region, wakes)
    select e.id, e.partition, turn_of(e.priority), e.team_id, e.workflow, e.priority, e.deadline, e.queue, e.region,
        (extract(epoch from clock_timestamp()) * 1000000)::bigint
    from executions e where e.id = any(ids) order by e.id
    on conflict (execution_id) do update set wakes = ready.wakes + 1;
end $$;

update schema_migrations set dirty = false where version = 23;
