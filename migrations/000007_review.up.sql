-- Review before publishing, and which workflows may use a secret or a connection.

-- Names of workflows, * standing for any part; empty = all of the team.
alter table secrets add column usable_by text[] not null default '{}';
alter table connections add column usable_by text[] not null default '{}';

-- Who changed the draft since it was last what is published: they may not approve it.
alter table drafts add column editors text[] not null default '{}';
update drafts set editors = array[saved_by];

-- A change put forward to be published. base_version is what it was made against, null = nothing was
-- published. editors are the author and whoever worked on a revision. state is what was done with it; whether
-- it is approved follows from the reviews.
create table proposals (
    team_id      uuid not null,
    workflow     text not null,
    number       integer not null check (number > 0),
    title        text not null,
    description  text not null default '',
    reviewers    text[] not null default '{}',
    author       text not null,
    editors      text[] not null,
    state        text not null default 'open' check (state in ('open', 'published', 'closed')),
    revision     integer not null default 1,
    base_version integer,
    version      integer, -- that it was published as
    created_at   timestamptz not null default now(),
    updated_at   timestamptz not null default now(),
    ended_at     timestamptz,
    ended_by     text,
    primary key (team_id, workflow, number),
    foreign key (team_id, workflow) references workflows on delete cascade
);
create index proposals_by_team on proposals (team_id, updated_at desc, workflow, number);

-- The snapshots of a proposal, never changed. base_version is what each was compared with.
create table proposal_revisions (
    team_id      uuid not null,
    workflow     text not null,
    proposal     integer not null,
    revision     integer not null,
    content_hash text not null,
    text         bytea not null,
    base_version integer,
    kind         text not null check (kind in ('draft', 'rebase')),
    made_by      text not null,
    made_at      timestamptz not null default now(),
    primary key (team_id, workflow, proposal, revision),
    foreign key (team_id, workflow, proposal) references proposals on delete cascade
);
create trigger proposal_revisions_immutable before update on proposal_revisions
    for each statement execute function refuse_change();

-- A verdict counts until its reviewer gives another one, or until a revision that changes the result
-- dismisses it.
create table proposal_reviews (
    id           bigint generated always as identity primary key,
    team_id      uuid not null,
    workflow     text not null,
    proposal     integer not null,
    revision     integer not null,
    verdict      text not null check (verdict in ('approve', 'request_changes', 'comment')),
    body         text not null,
    reviewer     text not null,
    content_hash text not null, -- of the revision that was looked at
    dismissed    boolean not null default false,
    at           timestamptz not null default now(),
    foreign key (team_id, workflow, proposal) references proposals on delete cascade
);
create index proposal_reviews_of on proposal_reviews (team_id, workflow, proposal, id);

-- A remark about an activity, a line (line_text is what stood there) or the whole.
create table proposal_comments (
    id          bigint generated always as identity primary key,
    team_id     uuid not null,
    workflow    text not null,
    proposal    integer not null,
    revision    integer not null,
    activity    text,
    line        integer,
    line_text   text,
    body        text not null,
    author      text not null,
    at          timestamptz not null default now(),
    resolved_by text,
    resolved_at timestamptz,
    foreign key (team_id, workflow, proposal) references proposals on delete cascade,
    check (activity is null or line is null)
);
create index proposal_comments_of on proposal_comments (team_id, workflow, proposal, id);

update schema_migrations set dirty = false where version = 7;
