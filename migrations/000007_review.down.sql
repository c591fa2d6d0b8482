drop table proposal_comments, proposal_reviews, proposal_revisions, proposals;
alter table drafts drop column editors;
alter table connections drop column usable_by;
alter table secrets drop column usable_by;
