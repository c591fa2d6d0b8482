-- crashes counts how often in a row the process died that drove an execution, without progress in between; from
-- a number on it is quarantined: its row of the queue belongs to nobody until a person releases it.
-- waits is what it waited for when it was parked last, for lists: [{kind, activity, until}].
alter table executions
    add column crashes integer not null default 0,
    add column quarantined_at timestamptz,
    add column waits json;
create index executions_quarantined on executions (quarantined_at) where quarantined_at is not null;

update schema_migrations set dirty = false where version = 12;
