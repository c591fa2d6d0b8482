-- With onLimit: replace the newest executions keep the slots: whoever is older is told to end, once, and gets no slot any
-- more that becomes free meanwhile.
alter table permits add column replaced boolean not null default false;

create or replace function grant_permits(team uuid, permit text) returns void language plpgsql as $$
declare head record;
begin
    loop
        select p.execution_id, p.activity, p.item, p.capacity into head from permits p
        where p.team_id = team and p.name = permit and not p.held and not p.replaced order by p.place limit 1;
        exit when not found;
        exit when head.capacity <= (select count(*) from permits p
            where p.team_id = team and p.name = permit and p.held);
        update permits p set held = true
        where p.team_id = team and p.name = permit and p.execution_id = head.execution_id
            and p.activity = head.activity and p.item = head.item;
        perform deliver(head.execution_id, convert_to(json_build_object('permitGranted',
            json_build_object('name', permit, 'activity', head.activity, 'item', head.item))::text, 'UTF8'));
    end loop;
end $$;

-- replace_older sends a message to all but the newest kept executions that hold a slot or wait for one. The caller holds
-- permit_lock.
create function replace_older(team uuid, permit text, kept integer, message bytea) returns void language plpgsql as $$
declare older record;
begin
    for older in
        update permits p set replaced = true
        from (select o.execution_id from permits o
            where o.team_id = team and o.name = permit and o.activity = '' and not o.replaced
            order by o.place desc offset kept) o
        where p.team_id = team and p.name = permit and p.activity = '' and p.execution_id = o.execution_id
        returning p.execution_id
    loop
        perform deliver(older.execution_id, message);
    end loop;
end $$;

update schema_migrations set dirty = false where version = 20;
