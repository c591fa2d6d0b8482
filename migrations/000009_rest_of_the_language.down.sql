drop function tell_joined, child_lock;
drop table child_waits, activity_logs, file_uses, file_parts, files;
drop function retention_of;
alter table executions drop column keep_until;
drop function take_turn;
drop table paces;
