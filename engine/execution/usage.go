package execution

import "weftline/engine/flow"

// usageIn reads what an ai activity used from its result, or from the detail of its failure; nil = it says
// nothing.
func usageIn(act *flow.Activity, v any) *Usage {
	if act.Type != flow.TypeAI {
		return nil
	}
	object, _ := v.(map[string]any)
	used, ok := object["usage"].(map[string]any)
	if !ok {
		return nil
	}
	count := func(name string) int64 {
		n, _ := used[name].(int64)
		return max(n, 0)
	}
	return &Usage{Prompt: count("promptTokens"), Completion: count("completionTokens"), Total: count("totalTokens")}
}

// use adds up what all attempts used, those that failed included.
func (st *State) use(u *Usage) {
	if u == nil {
		return
	}
	if st.Usage == nil {
		st.Usage = &Usage{}
	}
	st.Usage.Prompt += u.Prompt
	st.Usage.Completion += u.Completion
	st.Usage.Total += u.Total
}

func (st *State) useOfFailure(act *flow.Activity, err *Error) {
	if err != nil {
		st.use(usageIn(act, err.Detail))
	}
}
