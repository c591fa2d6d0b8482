alter table history rename to history_in_periods;
alter index history_pkey rename to history_in_periods_pkey;
create table history (
    execution_id uuid not null,
    first_seq bigint not null,
    last_seq bigint not null,
    at timestamptz not null,
    events bytea not null,
    primary key (execution_id, first_seq)
) with (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_insert_threshold = 50000, autovacuum_vacuum_scale_factor = 0.02);
insert into history select execution_id, first_seq, last_seq, at, events from history_in_periods;
drop table history_in_periods;
drop function drop_history_period(timestamptz);
drop function add_history_period(timestamptz, timestamptz);
drop function open_rest(timestamptz);
drop function look_through_rest(timestamptz);
drop function shut_rest(timestamptz, timestamptz);
drop function week_of(timestamptz);
drop function history_table(timestamptz);
drop function first_id(timestamptz);
drop table history_periods;
