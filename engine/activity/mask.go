package activity

import (
	"sync"

	"weftline/engine/execution"
)

// mask removes the secrets of one attempt from all that it shows. Those of connections come while it runs.
type mask struct {
	mu       sync.Mutex
	secrets  []string
	scrubber *execution.Scrubber // of secrets, made when it is needed
	made     bool
}

func (m *mask) add(secrets []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.secrets, m.made = append(m.secrets, secrets...), false
}

func (m *mask) scrub() *execution.Scrubber {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.made {
		m.scrubber, m.made = execution.NewScrubber(m.secrets), true
	}
	return m.scrubber
}

func (m *mask) text(text string) string { return m.scrub().Text(text) }

// outcome masks what an attempt came to, so that an answer that repeats what it was sent does not carry
// secrets into histories.
func (m *mask) outcome(o Outcome) Outcome {
	scrubber := m.scrub()
	o.Value, o.Err = scrubber.Value(o.Value), scrubber.Error(o.Err)
	return o
}
