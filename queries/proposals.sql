-- name: InsertProposal :one
-- Under the workflow's lock, so that numbers have no gaps.
insert into proposals (team_id, workflow, number, title, description, reviewers, author, editors, base_version)
select @team_id, @workflow, coalesce(max(number), 0) + 1, @title, @description, @reviewers, @author, @editors, sqlc.narg(base_version)
from proposals where team_id = @team_id and workflow = @workflow
returning *;

-- name: InsertRevision :one
insert into proposal_revisions (team_id, workflow, proposal, revision, content_hash, text, base_version, kind, made_by)
values (@team_id, @workflow, @proposal, @revision, @content_hash, @text, sqlc.narg(base_version), @kind, @made_by)
returning *;

-- name: LockProposal :one
select * from proposals where team_id = @team_id and workflow = @workflow and number = @number for update;

-- name: ProposalByNumber :one
select * from proposals where team_id = @team_id and workflow = @workflow and number = @number;

-- name: ReviseProposal :exec
update proposals set revision = @revision, base_version = sqlc.narg(base_version), editors = @editors, updated_at = now()
where team_id = @team_id and workflow = @workflow and number = @number;

-- name: TouchProposal :exec
update proposals set updated_at = now() where team_id = @team_id and workflow = @workflow and number = @number;

-- name: EndProposal :exec
update proposals set state = @state, version = sqlc.narg(version), ended_by = @ended_by, ended_at = now(), updated_at = now()
where team_id = @team_id and workflow = @workflow and number = @number;

-- name: ListProposals :many
-- Newest change first; before and the place after it are the last row of the page before. awaiting are the names
-- that an asker is asked by: then only what waits for their verdict, empty = all.
select p.* from proposals p
where p.team_id = @team_id and (@workflow::text = '' or p.workflow = @workflow)
    and (@state::text = '' or p.state = @state)
    and (cardinality(@awaiting::text[]) = 0 or p.state = 'open' and p.reviewers && @awaiting and not @asker::text = any (p.editors)
        and not exists (select from proposal_reviews r
            where r.team_id = p.team_id and r.workflow = p.workflow and r.proposal = p.number and r.reviewer = @asker
                and not r.dismissed and (r.verdict = 'approve' or r.verdict = 'request_changes' and r.revision = p.revision)))
    and (sqlc.narg(before)::timestamptz is null
        or (p.updated_at, p.workflow, p.number) < (sqlc.narg(before)::timestamptz, @before_workflow::text, @before_number::int))
order by p.updated_at desc, p.workflow desc, p.number desc
limit @page_size;

-- name: CountOpenProposals :many
select workflow, count(*) from proposals
where team_id = @team_id and state = 'open' and workflow = any(@workflows::text[])
group by workflow;

-- name: RevisionByNumber :one
select * from proposal_revisions
where team_id = @team_id and workflow = @workflow and proposal = @proposal and revision = @revision;

-- name: ListRevisions :many
select revision, content_hash, base_version, kind, made_by, made_at from proposal_revisions
where team_id = @team_id and workflow = @workflow and proposal = @proposal
order by revision;

-- name: InsertReview :one
insert into proposal_reviews (team_id, workflow, proposal, revision, verdict, body, reviewer, content_hash)
values (@team_id, @workflow, @proposal, @revision, @verdict, @body, @reviewer, @content_hash)
returning *;

-- name: ListReviews :many
select * from proposal_reviews
where team_id = @team_id and workflow = @workflow and proposal = @proposal
order by id;

-- name: DismissApprovals :execrows
update proposal_reviews set dismissed = true
where team_id = @team_id and workflow = @workflow and proposal = @proposal and verdict = 'approve' and not dismissed;

-- name: ReviewsOf :many
-- The verdicts of several proposals of one team, for lists.
select r.* from proposal_reviews r
join (select unnest(@workflows::text[]) as workflow, unnest(@numbers::int[]) as number) p
    on p.workflow = r.workflow and p.number = r.proposal
where r.team_id = @team_id
order by r.id;

-- name: InsertComment :one
insert into proposal_comments (team_id, workflow, proposal, revision, activity, line, line_text, body, author)
values (@team_id, @workflow, @proposal, @revision, sqlc.narg(activity), sqlc.narg(line), sqlc.narg(line_text), @body, @author)
returning *;

-- name: ListComments :many
select * from proposal_comments
where team_id = @team_id and workflow = @workflow and proposal = @proposal
order by id;

-- name: ResolveComment :one
-- The first to resolve a remark stays; fresh tells whether this was the first.
update proposal_comments set resolved_by = coalesce(resolved_by, @resolved_by), resolved_at = coalesce(resolved_at, now())
where team_id = @team_id and workflow = @workflow and proposal = @proposal and id = @id
returning sqlc.embed(proposal_comments), (resolved_at = now())::bool as fresh;

-- name: TeamUsesType :one
-- Whether a published version of the team names an activity type; workflow is left out.
select exists (
    select 1 from workflows w
    join versions v on v.team_id = w.team_id and v.workflow = w.name and v.version = w.published_version
    where w.team_id = @team_id and w.name <> @workflow
        and convert_from(v.text, 'UTF8') ~ ('\ytype"?\s*:\s*["'']?' || @type::text || '\y')
);
