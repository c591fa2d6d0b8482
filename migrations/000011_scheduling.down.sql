alter table executions reset (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold);
alter table history reset (autovacuum_vacuum_insert_scale_factor, autovacuum_vacuum_insert_threshold, autovacuum_vacuum_scale_factor);
alter table permits reset (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold);
alter table event_waits reset (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold);
create or replace function wake(ids uuid[]) returns void language sql as $$
    insert into ready (execution_id, partition, turn, team_id, workflow)
    select e.id, e.partition, turn_of(e.priority), e.team_id, e.workflow
    from executions e where e.id = any(ids) order by e.id
    on conflict (execution_id) do update set wakes = ready.wakes + 1
$$;
drop function weight_of(jsonb);
drop index ready_free;
create index ready_free on ready (turn, partition) where owner is null;
alter table ready drop column priority, drop column since, drop column deadline;
alter table executions drop column deadline;
