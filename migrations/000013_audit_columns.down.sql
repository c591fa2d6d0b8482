alter table login_attempts drop column max_age;
alter table sessions drop column authenticated_at;
alter table audit drop column via, drop column target_name, drop column for_whom, drop column before, drop column after;
