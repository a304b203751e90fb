package compare

import (
	"bufio"
	"io"
	"sort"
	"strconv"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment/internal/rawtext"
)

// rounds are the lines of a raw.txt at which a round of a case begins.
type rounds []struct{ line, round int }

// readRounds finds the marks that benchrun run writes. What only begins like one
// is a comment of somebody else's.
func readRounds(r io.Reader) (rounds, error) {
	var marks rounds
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := lines.ReadString('\n')
		if mark, ok := strings.CutPrefix(line, rawtext.RoundMark); ok {
			number, _, _ := strings.Cut(mark, " ")
			if round, err := strconv.Atoi(strings.TrimSpace(number)); err == nil && round >= 0 {
				marks = append(marks, struct{ line, round int }{n, round})
			}
		}
		if err == io.EOF {
			return marks, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// of is the round of the sample on a line, below 0 where none is marked.
func (r rounds) of(line int) int {
	i := sort.Search(len(r), func(i int) bool { return r[i].line > line })
	if i == 0 {
		return -1
	}
	return r[i-1].round
}
