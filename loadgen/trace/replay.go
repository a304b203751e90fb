package trace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/informerbench/informerbench/loadgen/pace"
)

// A Pace is how many times faster than recorded events are due. 1 is the
// recorded pace, [AsFastAsPossible] makes all due at 0.
type Pace float64

// AsFastAsPossible leaves out all waiting.
const AsFastAsPossible Pace = Pace(math.MaxFloat64)

// ParsePace reads "1", "10x", "0.5" or "max".
func ParsePace(text string) (Pace, error) {
	if text == "max" {
		return AsFastAsPossible, nil
	}
	f, err := strconv.ParseFloat(strings.TrimSuffix(text, "x"), 64)
	if err != nil || !(f >= 1e-6 && f <= 1e6) {
		return 0, fmt.Errorf("found %q, expected how many times faster than recorded (0.000001 to 1000000), such as 10, or max for as fast as possible", text)
	}
	return Pace(f), nil
}

// due returns when something recorded at a time is due.
func (p Pace) due(at time.Duration) time.Duration {
	if p == AsFastAsPossible {
		return 0
	}
	return time.Duration(min(float64(at)/float64(p), math.MaxInt64/2))
}

// Replay hands the records of a recording to the sink when they are due, in
// order, each exactly once, and returns how many it handed over. A sink that
// blocks makes the records behind it late, never lost; the pacer notes how late
// each was. As fast as possible, nothing is late and the pacer is not used.
func Replay(ctx context.Context, next func() (Record, error), p Pace, pacer *pace.Pacer, sink func(Record) error) (int, error) {
	begin := time.Now()
	for n := 0; ; n++ {
		record, err := next()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if p == AsFastAsPossible {
			err = ctx.Err()
		} else {
			err = pacer.Wait(ctx, begin.Add(p.due(record.At)))
		}
		if err == nil {
			err = sink(record)
		}
		if err != nil {
			return n, err
		}
	}
}
