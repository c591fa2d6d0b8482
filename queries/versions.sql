-- name: InsertVersion :one
insert into versions (team_id, workflow, version, content_hash, text, label, message, published_by)
values (@team_id, @workflow, @version, @content_hash, @text, @label, @message, @published_by)
returning *;

-- name: VersionByNumber :one
select * from versions where team_id = @team_id and workflow = @workflow and version = @version;

-- name: VersionByContent :one
select * from versions where team_id = @team_id and workflow = @workflow and content_hash = @content_hash;

-- name: RewriteVersion :one
-- The content stays: only what is written beside it changes.
update versions set text = @text where team_id = @team_id and workflow = @workflow and version = @version
returning *;

-- name: ListVersions :many
-- Newest first; before is the last number of the page before, 0 at the start.
select * from versions
where team_id = @team_id and workflow = @workflow and (@before::int = 0 or version < @before::int)
order by version desc
limit @page_size;
