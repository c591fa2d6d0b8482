-- A second belt around teams. What is asked for by somebody runs as the role weftline_team with the setting
-- weftline.team, and then sees and writes rows of that team only, whatever the statement says. What runs in the
-- background is the owner of the tables, whom policies do not bind.

-- Roles belong to the whole server, so it may be there already; without the right to make it the belt is off.
do $$
begin
    if not exists (select from pg_roles where rolname = 'weftline_team') then
        create role weftline_team nologin;
    end if;
    if not pg_has_role(current_user, 'weftline_team', 'member') then
        grant weftline_team to current_user;
    end if;
exception when others then
    raise notice 'row security stays off: %', sqlerrm;
end $$;

-- guard_teams puts a policy on every table with a team_id that has none. It is called after each migration.
-- Identity tables are read to find out the team, so they have none.
create function guard_teams() returns void language plpgsql as $$
declare guarded record;
begin
    if not exists (select from pg_roles where rolname = 'weftline_team') then
        return;
    end if;
    perform pg_advisory_xact_lock(hashtextextended('guard_teams', 4));
    execute format('grant usage on schema %I to weftline_team', current_schema());
    execute format('grant select, insert, update, delete on all tables in schema %I to weftline_team', current_schema());
    execute format('grant usage on all sequences in schema %I to weftline_team', current_schema());
    for guarded in
        select c.table_name from information_schema.columns c
        join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name and t.table_type = 'BASE TABLE'
        where c.table_schema = current_schema() and c.column_name = 'team_id' and c.table_name not in ('memberships', 'sessions')
            and not exists (select from pg_policies p where p.schemaname = c.table_schema and p.tablename = c.table_name and p.policyname = 'own_team')
    loop
        execute format('create policy own_team on %I to weftline_team using (team_id is null or team_id = nullif(current_setting(''weftline.team'', true), '''')::uuid)', guarded.table_name);
        execute format('alter table %I enable row level security', guarded.table_name);
    end loop;
end $$;

-- The audit cannot be emptied either.
create trigger audit_not_truncated before truncate on audit
    for each statement execute function refuse_change();

update schema_migrations set dirty = false where version = 8;
