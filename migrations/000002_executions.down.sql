drop function release_permits(uuid), grant_permits(uuid, text), permit_lock(uuid, text), event_lock(uuid, text, text),
    deliver(uuid, bytea), wake(uuid[]), worker_lock(uuid), turn_of(text);
drop table workers, tasks, permits, start_keys, posted_events, kept_events, event_waits, inbox, timers,
    ready, checkpoints, history, executions;
