drop index timers_due;
create index timers_due on timers (due_at);
