drop table logout_tokens, login_attempts;
drop index sessions_provider, sessions_team;
alter table sessions
    drop column id, drop column provider, drop column provider_sid, drop column key_id, drop column refresh_token,
    drop column id_token, drop column refresh_at, drop column refreshing_until, drop column unreachable_since;
alter table memberships drop column manual_roles, drop column manual_groups, drop column blocked;
alter table users
    drop constraint users_identity_whole, drop constraint users_identity, drop column provider, drop column email_verified,
    drop column access, drop column synced_at, drop column relink_until, drop column last_team;
alter table users add constraint users_issuer_subject_key unique (issuer, subject);
