package flow

// Change is one difference between two definitions, by activity and by field; layout is ignored.
type Change struct {
	Kind   string        `json:"kind"` // added, removed, changed, renamed, moved
	What   string        `json:"what"` // activity, edge, input, policy, schedule, output, metadata, hook, trigger, test
	ID     string        `json:"id"`
	Fields []FieldChange `json:"fields"`
}

// FieldChange is one field of a change; From or To is nil when it was added or removed.
type FieldChange struct {
	Path string `json:"path"`
	From any    `json:"from"`
	To   any    `json:"to"`
}
