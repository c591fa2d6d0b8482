create or replace function wake(ids uuid[]) returns void language sql as $$
    insert into ready (execution_id, partition, turn, team_id, workflow, priority, deadline)
    select e.id, e.partition, turn_of(e.priority), e.team_id, e.workflow, e.priority, e.deadline
    from executions e where e.id = any(ids) order by e.id
    on conflict (execution_id) do update set wakes = ready.wakes + 1
$$;
drop index work_by_queue, work_by_team, work_by_workflow, ready_by_queue, ready_by_workflow;
alter table workers drop column teams, drop column workflows, drop column pool;
alter table ready drop column queue, drop column region;
alter table executions drop column queue, drop column region;
