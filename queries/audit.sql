-- name: WriteAudit :exec
insert into audit (team_id, actor, via, action, target, target_name, for_whom, before, after, detail, address, request)
values (@team_id, @actor, @via, @action, @target, @target_name, @for_whom, sqlc.narg(before), sqlc.narg(after), @detail, @address, @request);

-- name: ListAudit :many
-- Newest first; before_id is the last id of the page before, 0 at the start.
select * from audit
where team_id = @team_id and (@before_id::bigint = 0 or id < @before_id::bigint)
    and (@actor::text = '' or actor = @actor)
    and (@action::text = '' or action = @action or starts_with(action, @action || '.'))
    and (@target::text = '' or target = @target or target_name = @target)
    and (@for_whom::text = '' or for_whom = @for_whom)
    and (@address::text = '' or address = @address)
    and (@request::text = '' or request = @request)
    and (sqlc.narg(since)::timestamptz is null or at >= sqlc.narg(since))
    and (sqlc.narg(until)::timestamptz is null or at < sqlc.narg(until))
order by id desc
limit @page_size;
