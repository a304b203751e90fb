package sim

import (
	"context"
	"fmt"
)

// Run simulates once. The same configuration gives the same result. It fails if
// the configuration is wrong, the context ends, or the simulation would not end.
func Run(ctx context.Context, c Config) (Result, error) {
	if err := c.prepare(); err != nil {
		return Result{}, fmt.Errorf("sim: %w", err)
	}
	arrivals := c.Arrivals
	if arrivals == nil {
		schedule, err := c.Spec.Schedule()
		if err != nil {
			return Result{}, fmt.Errorf("sim: %w", err)
		}
		arrivals = schedule
	}
	e := newEngine(&c, arrivals)
	if err := e.run(ctx); err != nil {
		return Result{}, fmt.Errorf("sim: %w", err)
	}
	return e.result(), nil
}
