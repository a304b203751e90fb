package loadgen

import "time"

var processStart = time.Now()

// cpuTime is the time on the wall here.
func cpuTime() time.Duration { return time.Since(processStart) }
