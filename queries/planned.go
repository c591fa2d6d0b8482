package queries

import "context"

// ClaimOffered is ClaimWork by one plan for all arguments. PostgreSQL would make a new one for each claim, which takes
// longer than the claim itself: of the parts of the statement all but one are cut off before they begin, and it values
// that the plan of the moment says so already.
//
// For a remote worker it does not wait for the disk: the attempt is handed out only when the flush that records its
// start is durable, and what was committed before that flush is durable with it.
func ClaimOffered(ctx context.Context, db Batcher, arg ClaimWorkParams) (rows []ClaimWorkRow, err error) {
	var asked Reading
	asked.batch.Queue(`select set_config('plan_cache_mode', 'force_generic_plan', true)`) // until the round trip ends
	if arg.Team != nil {
		asked.batch.Queue(`select set_config('synchronous_commit', 'off', true)`)
	}
	add(&asked, &rows, claimWork, arg.Needs, arg.Execution, arg.Team, arg.Queues, arg.Workflows, arg.Labels, arg.Batch,
		arg.OfTeams, arg.Worker, arg.Lease, arg.LeaseSeconds)
	return rows, asked.Read(ctx, db)
}
