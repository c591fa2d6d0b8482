-- name: InsertFile :exec
insert into files (id, team_id, name, type, size, sha256, created_by)
values (@id, @team_id, @name, @type, @size, @sha256, @created_by);

-- name: InsertFilePart :exec
insert into file_parts (file_id, part, content) values (@file_id, @part, @content);

-- name: FileByID :one
select * from files where id = @id and team_id = @team_id;

-- name: FileParts :many
select content from file_parts where file_id = @file_id order by part;
