package execution

import (
	"html"

	"weftline/engine/expr"
	"weftline/engine/flow"
)

// recorded resolves the inputs of an activity as its history keeps them: secrets and sensitive values are
// masked. What cannot be computed from masked values is masked as a whole.
func (r reader) recorded() (any, error) {
	act := r.at.act
	if parks(act) {
		return nil, nil
	}
	if !r.hides(act) {
		return r.resolve(act)
	}
	t, err := r.twin(func(r reader) (any, error) { return r.resolve(act) })
	if err != nil && len(SecretsOf(act)) > 0 {
		return Mask, nil // only the worker, who has the secrets, can tell whether it is right
	}
	return t.seen(), err
}

// resolve evaluates what a worker of the type is given.
func (r reader) resolve(act *flow.Activity) (any, error) {
	switch act.Type {
	case flow.TypeEmit:
		return r.emission(act.Emit)
	case flow.TypeSwitch, flow.TypeSet, flow.TypeFail, flow.TypeEnd:
		return nil, nil
	}
	if act.Inputs == nil {
		return nil, nil
	}
	resolved, err := r.value(act.Inputs)
	if err == nil && act.Type == flow.TypeEmail {
		err = r.escapeHTML(act.Inputs.Fields()["html"], resolved)
	}
	return resolved, err
}

// escapeHTML resolves the html of a mail again, so that values in it are text and never markup.
func (r reader) escapeHTML(template *expr.Value, resolved any) error {
	fields, ok := resolved.(map[string]any)
	if _, literal := template.Literal(); literal || !ok {
		return nil
	}
	escaped, err := template.EvalEscaped(r.env(template.References()), html.EscapeString)
	if err == nil {
		fields["html"] = escaped
	}
	return err
}

// emission is the event of an emit. Its name and key are stored in plain, since others are found by them.
func (r reader) emission(e *flow.Emit) (any, error) {
	name, err := r.public("the name of an event", func(r reader) (any, error) { return r.value(e.Name) })
	if err != nil {
		return nil, err
	}
	out := map[string]any{"name": name, "key": "", "payload": nil}
	if e.Key != nil {
		if out["key"], err = r.public("the key of an event", func(r reader) (any, error) { return r.eval(e.Key) }); err != nil {
			return nil, err
		}
	}
	if e.Payload != nil {
		if out["payload"], err = r.value(e.Payload); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// hides reports whether the inputs of an activity may hold what must not be stored.
func (r reader) hides(act *flow.Activity) bool {
	return len(SecretsOf(act)) > 0 || r.st.hides(r.wf)
}

// SecretsOf names the secrets that an activity's inputs read.
func SecretsOf(act *flow.Activity) []string {
	if act.Inputs == nil {
		return nil
	}
	if _, literal := act.Inputs.Literal(); literal {
		return nil
	}
	return act.Inputs.References().Secrets
}

// textOf evaluates a value that has to be a text; nil gives "".
func (r reader) textOf(v *expr.Value, what string) (string, error) {
	if v == nil {
		return "", nil
	}
	got, err := r.value(v)
	if err != nil {
		return "", err
	}
	switch s := got.(type) {
	case nil:
		return "", nil
	case string:
		return s, nil
	}
	return "", failure("input.invalid", classActivity, "%s has to be a text, it is %v", what, got)
}

// textsOf evaluates a list of texts; one text is a list of one.
func (r reader) textsOf(v *expr.Value, what string) ([]string, error) {
	if v == nil {
		return nil, nil
	}
	got, err := r.value(v)
	if err != nil {
		return nil, err
	}
	switch t := got.(type) {
	case nil:
		return nil, nil
	case string:
		return []string{t}, nil
	case []any:
		list := make([]string, len(t))
		for i := range t {
			s, ok := t[i].(string)
			if !ok {
				return nil, failure("input.invalid", classActivity, "%s has to be a list of texts, item %d is %v", what, i, t[i])
			}
			list[i] = s
		}
		return list, nil
	}
	return nil, failure("input.invalid", classActivity, "%s has to be a list of texts, it is %v", what, got)
}
