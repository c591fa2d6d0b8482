drop table work;
delete from workers where kind = 'remote';
alter table workers
    drop column kind, drop column team_id, drop column registered_by, drop column architecture, drop column cpu,
    drop column memory, drop column queues, drop column cpu_usage, drop column memory_usage, drop column queue_length,
    drop column last_activity, drop column replaced_by;
