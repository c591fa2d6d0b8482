create or replace function wake(ids uuid[]) returns void language plpgsql as $$
begin
    insert into ready (execution_id, partition, turn, team_id, workflow, priority, deadline, queue, region)
    select e.id, e.partition, turn_of(e.priority), e.team_id, e.workflow, e.priority, e.deadline, e.queue, e.region
    from executions e where e.id = any(ids) order by e.id
    on conflict (execution_id) do update set wakes = ready.wakes + 1;
end $$;
