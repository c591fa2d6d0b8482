drop trigger versions_immutable on versions;
create trigger versions_immutable before update on versions
    for each statement execute function refuse_change();
drop function keep_version_text();
drop table version_texts;

update schema_migrations set dirty = false where version = 23;
