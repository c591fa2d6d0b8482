drop function replace_older(uuid, text, integer, bytea);

create or replace function grant_permits(team uuid, permit text) returns void language plpgsql as $$
declare head record;
begin
    loop
        select p.execution_id, p.activity, p.item, p.capacity into head from permits p
        where p.team_id = team and p.name = permit and not p.held order by p.place limit 1;
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

alter table permits drop column replaced;
