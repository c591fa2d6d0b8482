drop table editors;
