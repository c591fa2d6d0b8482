drop table event_triggers, webhooks, backfills, ticks, schedules;
drop function keep_outcome;
