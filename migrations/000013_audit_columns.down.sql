alter table audit drop column via, drop column target_name, drop column for_whom, drop column before, drop column after;
