-- name: DeleteWebhooks :exec
delete from webhooks where team_id = @team_id and workflow = @workflow;

-- name: InsertWebhook :execrows
-- A path that another workflow has stays with it: no row.
insert into webhooks (team_id, path, workflow, version, place) values (@team_id, @path, @workflow, @version, @place)
on conflict do nothing;

-- name: WebhookOwner :one
select workflow from webhooks where team_id = @team_id and path = @path;

-- name: WebhookByPath :one
-- With the team that its name means, and whether its policy allows requests without proof.
select t.id as team_id, t.name as team_name, w.workflow, w.version, w.place,
    coalesce((t.policy ->> 'allowUnsignedWebhooks')::boolean, false)::boolean as allow_unsigned
from teams t join webhooks w on w.team_id = t.id
where t.name = @team and w.path = @path;

-- name: AllowsUnsignedWebhooks :one
select coalesce((policy ->> 'allowUnsignedWebhooks')::boolean, false)::boolean from teams where id = @id;

-- name: DeleteEventTriggers :exec
delete from event_triggers where team_id = @team_id and workflow = @workflow;

-- name: InsertEventTrigger :exec
insert into event_triggers (team_id, name, workflow, version, place) values (@team_id, @name, @workflow, @version, @place);

-- name: EventTriggers :many
select workflow, version, place from event_triggers where team_id = @team_id and name = @name order by workflow, place;
