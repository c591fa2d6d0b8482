drop table server_settings, audit, idempotency_keys, versions, drafts, workflows, sessions, tokens, memberships, users, teams;
drop function refuse_change();
