-- Which activity somebody has selected in the designer, '' = none.
alter table editors add column activity text not null default '';

update schema_migrations set dirty = false where version = 22;
