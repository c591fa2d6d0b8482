-- name: WriteAudit :exec
insert into audit (team_id, actor, action, target, detail, address, request)
values (@team_id, @actor, @action, @target, @detail, @address, @request);

-- name: ListAudit :many
-- Newest first; before is the last id of the page before, 0 at the start.
select * from audit
where team_id = @team_id and (@before::bigint = 0 or id < @before::bigint)
    and (@actor::text = '' or actor = @actor) and (@action::text = '' or action = @action)
order by id desc
limit @page_size;
