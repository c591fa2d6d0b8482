package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"weftline/engine/bench"
	"weftline/engine/enginetest"
)

func TestBenchPrintsALineOfEachWorkload(t *testing.T) {
	url := enginetest.Database(t)
	for _, name := range bench.Workloads() {
		if name == "fanout-items" { // 1,000 items whatever is asked for
			continue
		}
		t.Run(name, func(t *testing.T) {
			got := call(t, nil, "", "bench", name, "--database-url", url, "--instances", "20", "--workers", "1")
			if got.code != 0 {
				t.Fatalf("%d %s", got.code, got.err)
			}
			var line bench.Result
			decoder := json.NewDecoder(strings.NewReader(got.out))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(&line); err != nil {
				t.Fatalf("%v: %s", err, got.out)
			}
			if line.Workload != name || line.Mode != "local_sync" || line.Instances != 20 || line.InstancesPerSecond <= 0 ||
				line.WALBytesPerInstance <= 0 || line.P99 < line.P50 || line.CPU <= 0 || line.Postgres == "" || line.CommitP50 <= 0 {
				t.Errorf("%s", got.out)
			}
			if l := line.Leases; (name == "leases") != (l != nil) || l != nil && (l.Register <= 0 || l.Lease <= 0 || l.Renew <= 0 || l.Dispatch <= 0) {
				t.Errorf("leases %+v", l)
			}
			if (name == "sleepers") == (line.P50 > 0) {
				t.Errorf("latency %v ms", line.P50)
			}
			if calls := slices.Contains([]string{"latency", "single-call", "even"}, name); calls != (line.BeginP50 > 0) || line.BeginP99 < line.BeginP50 {
				t.Errorf("steps began after %v and %v ms", line.BeginP50, line.BeginP99)
			}
			if r := line.Rest; (name == "sleepers") != (r != nil) || r != nil && (r.Statements <= 0 || r.Scans != 0 || r.ResidentSize <= 0 || r.Size["history"] <= 0) {
				t.Errorf("at rest %+v", r)
			}
			if (name == "even") != slices.Equal(line.Shares, []int{20}) {
				t.Errorf("the replicas made %v", line.Shares)
			}
			if (name == "timers") != (line.FiredSeconds > 0) {
				t.Errorf("fired in %v s", line.FiredSeconds)
			}
		})
	}
}

func TestBenchSoak(t *testing.T) {
	got := call(t, nil, "", "bench", "soak", "--database-url", enginetest.Database(t), "--duration", "3s", "--every", "700ms", "--rate", "20")
	if got.code != 0 {
		t.Fatalf("%d %s", got.code, got.err)
	}
	started, completed := 0, 0
	decoder := json.NewDecoder(strings.NewReader(got.out))
	for decoder.More() {
		var line bench.SoakLine
		if err := decoder.Decode(&line); err != nil {
			t.Fatal(err)
		}
		started, completed = started+line.Started, completed+line.Completed
		if line.ResidentSize <= 0 || line.Heap == 0 || line.Size["history"] <= 0 || len(line.Dead) != len(line.Size) {
			t.Errorf("%+v", line)
		}
	}
	if started == 0 || completed == 0 || completed > started {
		t.Errorf("%d started, %d completed: %s", started, completed, got.out)
	}
	for _, wrong := range [][]string{{"--duration", "0s"}, {"--every", "-1s"}, {"--rate", "-1"}} {
		if got := call(t, nil, "", append([]string{"bench", "soak"}, wrong...)...); got.code == 0 || !strings.Contains(got.err, "--duration") {
			t.Errorf("%v: %d %s", wrong, got.code, got.err)
		}
	}
}
