-- The last text of a draft that could be drawn, kept while the draft itself cannot be: the designer shows it.
alter table drafts add column last_good bytea;

update schema_migrations set dirty = false where version = 18;
