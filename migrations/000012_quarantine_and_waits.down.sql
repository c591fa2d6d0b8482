update ready set owner = null where owner = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
drop index executions_quarantined;
alter table executions drop column crashes, drop column quarantined_at, drop column waits;
