alter table editors drop column activity;
