-- Executions that no living worker serves: any replica applies to them what needs no worker.

-- attended is the count of wake-ups as of which somebody who does not serve the execution has done that; null where
-- nobody has.
alter table ready add column attended bigint;

-- The partitions that a replica claims from, empty = all.
alter table workers add column partitions smallint[] not null default '{}';

-- serving lists the replicas that are alive and take executions.
create function serving(lease_seconds double precision) returns setof workers language sql stable as $$
    select * from workers w where w.kind = 'replica' and w.state not in ('stopped', 'draining')
        and w.heartbeat_at > now() - make_interval(secs => lease_seconds)
$$;

-- is_served: one of them takes executions of this kind.
create function is_served(lease_seconds double precision, team uuid, workflow text, queue text, partition smallint) returns boolean language sql stable as $$
    select exists (select from serving(lease_seconds) w
        where (w.queues = '{}' or is_served.queue = any(w.queues))
            and (w.workflows = '{}' or is_served.workflow = any(w.workflows))
            and (w.partitions = '{}' or is_served.partition = any(w.partitions))
            and (w.teams = '{}' or exists (select from teams t where t.id = team and t.name = any(w.teams))))
$$;

-- all_served: one of them takes everything, so that nobody need look further.
create function all_served(lease_seconds double precision) returns boolean language sql stable as $$
    select exists (select from serving(lease_seconds) w
        where w.queues = '{}' and w.workflows = '{}' and w.partitions = '{}' and w.teams = '{}')
$$;

update schema_migrations set dirty = false where version = 16;
