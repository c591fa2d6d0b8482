package activity

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	scriptMemory = 1 << 30         // bytes that each process of a script may take
	scriptFile   = 1 << 30         // bytes that a file of a script may have
	scriptGrace  = 2 * time.Second // for pipes that a killed process's children hold open
)

// sourceNames are the files that hold the source, in the working folder.
var sourceNames = map[string]string{"bash": "script.sh", "python": "script.py", "node": "script.js"}

// flagsOf keep an interpreter from reading settings that are not the script's.
var flagsOf = map[string][]string{"bash": {"--noprofile", "--norc"}, "python": {"-B"}}

// runProcess runs a script as a process group of its own: in a folder that is made for it and removed after,
// with the given environment and nothing else, and gone as a whole when the attempt ends.
func (s *Script) runProcess(ctx context.Context, program string, memory int64, call Call, inputs scriptInputs, printed *printed) Outcome {
	folder, err := os.MkdirTemp("", "weftline-script-")
	if err != nil {
		return fail("engine.sandbox", classInfrastructure, nil, "make a folder for the script: %s", err)
	}
	defer os.RemoveAll(folder)
	work := filepath.Join(folder, "work")
	if err := inputs.lay(work); err != nil {
		return invalid(err)
	}
	answer, left := filepath.Join(folder, "output.json"), filepath.Join(folder, "files")
	if err := os.Mkdir(left, 0o700); err != nil {
		return fail("engine.sandbox", classInfrastructure, nil, "make a folder for the script: %s", err)
	}
	cmd := exec.CommandContext(ctx, program, append(append(flagsOf[inputs.language], sourceNames[inputs.language]), inputs.args...)...)
	cmd.Dir, cmd.Env = work, append([]string{"WF_OUTPUT=" + answer, "WF_FILES=" + left}, inputs.env...)
	cmd.Stdin = strings.NewReader(inputs.stdin)
	stdout := &lineWriter{say: func(line string) { printed.line("stdout", line) }}
	stderr := &lineWriter{say: func(line string) { printed.line("stderr", line) }}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	code, err := runGroup(cmd, memory)
	stdout.flush()
	stderr.flush()
	switch {
	case ctx.Err() != nil:
		return unfinished(ctx, printed)
	case errors.Is(err, syscall.E2BIG):
		return invalid(fmt.Errorf("the arguments and the environment are longer than a process may have: hand long texts over in stdin or files"))
	case err != nil:
		return fail("engine.sandbox", classInfrastructure, nil, "run %s: %s", inputs.language, err)
	case code != 0:
		return fail("script.exit", classActivity, printed.detail(code), "%s ended with exit code %d%s", inputs.language, code, printed.lastWord())
	}
	outcome := s.answered(answer, printed)
	if result, ok := outcome.Value.(map[string]any); ok && outcome.Err == nil {
		files, failed := keepLeft(ctx, call, left)
		if failed != nil {
			return *failed
		}
		result["files"] = files
	}
	return outcome
}

// mostLeft bounds the files that one script may leave.
const mostLeft = 100

// keepLeft keeps the files that a script left in $WF_FILES, by name; what is no file there is not kept.
func keepLeft(ctx context.Context, call Call, folder string) (map[string]any, *Outcome) {
	kept := map[string]any{}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return kept, nil // it took the folder away
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if len(kept) >= mostLeft || call.files != nil && info.Size() > call.files.Most() {
			outcome := fail("output.too_large", classActivity, nil, "a script may leave %d files in $WF_FILES, each of at most the server's limit; %s is too much", mostLeft, entry.Name())
			return nil, &outcome
		}
		content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			continue
		}
		value, failed := call.save(ctx, entry.Name(), mime.TypeByExtension(filepath.Ext(entry.Name())), content)
		if failed != nil {
			return nil, failed
		}
		kept[entry.Name()] = value
	}
	return kept, nil
}

// lay writes the source and the files into the working folder.
func (in *scriptInputs) lay(work string) error {
	if err := os.Mkdir(work, 0o700); err != nil {
		return err
	}
	source := sourceNames[in.language]
	if _, taken := in.files[source]; taken {
		return fmt.Errorf("files: %q is the name of the script itself", source)
	}
	if err := os.WriteFile(filepath.Join(work, source), []byte(in.source), 0o600); err != nil {
		return err
	}
	for name, content := range in.files {
		path := filepath.Join(work, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("files: %q cannot be written beside the others", name)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return fmt.Errorf("files: %q cannot be written beside the others", name)
		}
	}
	return nil
}

// runGroup runs a command and everything that it starts, and answers its exit code; 128 + n after signal n,
// as shells count. memory is in bytes, of each process.
func runGroup(cmd *exec.Cmd, memory int64) (code int, err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = scriptGrace
	killGroup := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = killGroup
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	bounded := boundScript(cmd.Process.Pid, memory)
	if bounded != nil && !errors.Is(bounded, syscall.ESRCH) { // it may have ended already
		_ = killGroup()
		_ = cmd.Wait()
		return 0, bounded
	}
	err = cmd.Wait()
	_ = killGroup() // what it left running in the background
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return 128 + int(status.Signal()), nil
		}
		return exit.ExitCode(), nil
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		return 0, nil // the script itself has succeeded; only its children still wrote
	}
	return 0, err
}

// answered reads what the script left in $WF_OUTPUT.
func (s *Script) answered(path string, printed *printed) Outcome {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return printed.result(nil)
	}
	if err == nil && !info.Mode().IsRegular() { // reading a pipe would never end
		return fail("output.invalid", classActivity, printed.detail(0), "$WF_OUTPUT is not a file any more")
	}
	file, err := os.Open(path)
	if err != nil {
		return fail("output.invalid", classActivity, printed.detail(0), "$WF_OUTPUT cannot be read")
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, s.options.MaxOutput+1))
	if err != nil {
		return fail("output.invalid", classActivity, printed.detail(0), "$WF_OUTPUT cannot be read")
	}
	if int64(len(content)) > s.options.MaxOutput {
		return fail("output.too_large", classActivity, printed.detail(0), "$WF_OUTPUT is larger than the limit of %d bytes", s.options.MaxOutput)
	}
	output, err := decodeOutput(content)
	if err != nil {
		return fail("output.invalid", classActivity, printed.detail(0), "$WF_OUTPUT is not JSON: %s", err)
	}
	return printed.result(output)
}

// lastWord is the last line that the script wrote to stderr, for the message.
func (p *printed) lastWord() string {
	lines := strings.Split(strings.TrimSpace(p.stderr.String()), "\n")
	if last := clipText(lines[len(lines)-1], 500); last != "" {
		return ": " + last
	}
	return ""
}
