-- Timers are fired in batches by instant, then by id. The index holds that order: of a hundred thousand that are due at
-- one instant a batch reads its own, and does not sort the rest each time.
drop index timers_due;
create index timers_due on timers (due_at, execution_id);

update schema_migrations set dirty = false where version = 19;
