drop trigger audit_not_truncated on audit;
do $$
declare guarded record;
begin
    for guarded in select tablename from pg_policies where schemaname = current_schema() and policyname = 'own_team' loop
        execute format('drop policy own_team on %I', guarded.tablename);
        execute format('alter table %I disable row level security', guarded.tablename);
    end loop;
    if exists (select from pg_roles where rolname = 'weftline_team') then
        execute format('revoke all on all tables in schema %I from weftline_team', current_schema());
        execute format('revoke all on all sequences in schema %I from weftline_team', current_schema());
        execute format('revoke all on schema %I from weftline_team', current_schema());
    end if;
end $$;
drop function guard_teams();
