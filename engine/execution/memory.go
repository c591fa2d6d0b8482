package execution

import "weftline/engine/flow"

// weigh is the size of a value as JSON in bytes, give or take escapes and numbers.
func weigh(value any) int64 {
	const number = 8
	switch v := value.(type) {
	case string:
		return int64(len(v)) + 2
	case []any:
		size := int64(2)
		for _, element := range v {
			size += weigh(element) + 1
		}
		return size
	case map[string]any:
		size := int64(2)
		for key, element := range v {
			size += int64(len(key)) + 4 + weigh(element)
		}
		return size
	}
	return number
}

// hold counts outputs that the state holds from now on, or not any more; only where somebody asks for it.
func (st *State) hold(wf *flow.Workflow, output any, sign int64) {
	if wf.Limits.MaxMemory > 0 && output != nil {
		st.Held += sign * weigh(output)
	}
}

// overMemory is the failure of an activity whose output would make the state larger than limits.maxMemory.
func (d *decider) overMemory(output any) *Error {
	most := d.wf.Limits.MaxMemory
	if most <= 0 || output == nil {
		return nil
	}
	size := d.st.Held + weigh(output)
	if size <= most {
		return nil
	}
	err := failure("limit.memory", classActivity, "with this output the execution would hold about %d bytes, limits.maxMemory is %d", size, most)
	err.Detail = map[string]any{"size": size, "limit": most}
	return err
}
