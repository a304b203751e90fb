package pace

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Both ways go words of eight bytes: the moments at which events are due, in
// nanoseconds of the system's monotonic clock, and for each, once it has come,
// by how many nanoseconds that was late.
const word = 8

// far is the parent's end of a process that paces.
type far struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *os.File
	at      time.Time // this moment ...
	ticks   int64     // ... on the monotonic clock
	moments []byte    // to be sent
	read    [512 * word]byte
	answers []byte      // in read, not yet used
	bound   sync.Once   // to the context of the waits
	unbind  func() bool // undoes it
}

// NewProcess returns a pacer whose events are released by a process of their
// own, which the command starts and which has to call [Serve] with its standard
// input and output: neither the garbage collector nor the scheduler of this
// process can make them late, as they can't those that come from another
// machine. [Pacer.Announce] has to name each moment that is waited for.
func NewProcess(command *exec.Cmd) (*Pacer, error) {
	f := &far{command: command}
	var err error
	if f.in, err = command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	f.out = out.(*os.File)                                              // as os/exec makes it
	command.Env = append(command.Environ(), "GOMAXPROCS=2", "GOGC=off") // with a spare processor, a sleeping thread keeps its own
	if err := command.Start(); err != nil {
		return nil, err
	}
	_ = f.out.SetReadDeadline(time.Now().Add(startTime)) // a pipe has deadlines
	if _, err := io.ReadFull(f.out, f.read[:word]); err != nil {
		f.close()
		return nil, fmt.Errorf("%s did not say that it paces: %w", command.Path, err)
	}
	_ = f.out.SetReadDeadline(time.Time{})
	for i, closest := 0, int64(0); i < 10; i++ { // one of them isn't interrupted
		before, at, after := monotonic(), time.Now(), monotonic()
		if i == 0 || after-before < closest {
			closest, f.at, f.ticks = after-before, at, (before+after)/2
		}
	}
	return &Pacer{far: f, lateness: newHistogram(), taken: newHistogram()}, nil
}

// startTime is more than a process needs to start on a busy machine.
const startTime = 20 * time.Second

func (f *far) announce(due []time.Time) {
	f.moments = f.moments[:0]
	for _, t := range due {
		f.moments = binary.LittleEndian.AppendUint64(f.moments, uint64(f.ticks+int64(t.Sub(f.at))))
	}
	_, _ = f.in.Write(f.moments) // where it fails, so does the wait
}

// wait returns by how much the next announced moment was late.
func (f *far) wait(ctx context.Context) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	for len(f.answers) < word {
		f.bound.Do(func() { // all waits have the same
			f.unbind = context.AfterFunc(ctx, func() { _ = f.out.SetReadDeadline(time.Unix(1, 0)) })
		})
		n := copy(f.read[:], f.answers)
		m, err := f.out.Read(f.read[n:])
		if f.answers = f.read[:n+m]; m > 0 {
			continue
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		return 0, fmt.Errorf("the process that paces the load is gone: %w", err)
	}
	late := time.Duration(binary.LittleEndian.Uint64(f.answers))
	f.answers = f.answers[word:]
	return late, nil
}

func (f *far) close() {
	if f.unbind != nil {
		f.unbind()
	}
	f.in.Close()
	_ = f.command.Process.Kill() // it may be asleep, and holds nothing
	_ = f.command.Wait()
}

// Serve is what the process of a [NewProcess] does until its input ends or its
// parent is gone: it reads moments and answers each when it has come. It takes
// no notice of the signals that end a process from a terminal, as its parent
// decides. It answers as soon as it is ready, once.
func Serve(in io.Reader, out io.Writer) error {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sleeper := &threadSleep{first: true}
	sleeper.bind()
	parent := os.Getppid()
	var moments [512 * word]byte
	answers := make([]byte, word, len(moments)+word)
	flush := func() error {
		_, err := out.Write(answers)
		answers = answers[:0]
		return err
	}
	rest := 0
	for {
		if err := flush(); err != nil {
			return err
		}
		n, err := in.Read(moments[rest:])
		if n == 0 {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		whole := (rest + n) / word * word
		for i := 0; i < whole; i += word {
			due := int64(binary.LittleEndian.Uint64(moments[i:]))
			for left := due - monotonic(); left > 0; left = due - monotonic() {
				if len(answers) > 0 {
					if err := flush(); err != nil {
						return err
					}
					continue
				}
				if os.Getppid() != parent {
					return nil
				}
				sleeper.sleep(min(time.Duration(left), time.Second)) // and looks after its parent
			}
			answers = binary.LittleEndian.AppendUint64(answers, uint64(monotonic()-due))
		}
		rest = copy(moments[:], moments[whole:rest+n])
	}
}

// monotonic is the time on the clock that all processes of a machine share.
func monotonic() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err) // every Linux has it
	}
	return t.Nano()
}
