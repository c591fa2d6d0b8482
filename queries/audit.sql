-- name: WriteAudit :exec
insert into audit (team_id, actor, action, target, detail, address, request)
values (@team_id, @actor, @action, @target, @detail, @address, @request);

-- name: ListAudit :many
-- Newest first; before is the last id of the page before, 0 at the start.
select * from audit
where team_id = @team_id and (@before::bigint = 0 or id < @before::bigint)
    and (@actor::text = '' or actor = @actor)
    and (@action::text = '' or action = @action or starts_with(action, @action || '.'))
    and (@target::text = '' or target = @target)
    and (sqlc.narg(since)::timestamptz is null or at >= sqlc.narg(since))
    and (sqlc.narg(until)::timestamptz is null or at < sqlc.narg(until))
order by id desc
limit @page_size;
