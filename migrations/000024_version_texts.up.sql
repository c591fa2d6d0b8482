-- What a version does never changes. What is written beside it, such as comments, tests and places on the canvas, may be
-- written anew; each earlier text is kept.
create table version_texts (
    team_id     uuid not null,
    workflow    text not null,
    version     integer not null,
    text        bytea not null,
    replaced_at timestamptz not null default now(),
    foreign key (team_id, workflow, version) references versions on delete cascade
);
create index version_texts_version on version_texts (team_id, workflow, version, replaced_at);

create function keep_version_text() returns trigger language plpgsql as $$
begin
    if (to_jsonb(new) - 'text') is distinct from (to_jsonb(old) - 'text') then
        raise exception 'of versions nothing changes but what is written beside their content';
    end if;
    insert into version_texts (team_id, workflow, version, text) values (old.team_id, old.workflow, old.version, old.text);
    return new;
end $$;
drop trigger versions_immutable on versions;
create trigger versions_immutable before update on versions
    for each row execute function keep_version_text();

update schema_migrations set dirty = false where version = 24;
