drop table connections;
