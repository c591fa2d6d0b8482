drop function all_served(double precision);
drop function is_served(double precision, uuid, text, text, smallint);
drop function serving(double precision);
alter table workers drop column partitions;
alter table ready drop column attended;
