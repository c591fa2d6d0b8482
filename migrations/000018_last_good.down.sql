alter table drafts drop column last_good;
