drop table secrets;
