package rawtext

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"sort"
	"strconv"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/text/encoding/unicode"
)

// MaxSize bounds the time and memory of whoever reads a file, unpacked: some
// three million samples.
const MaxSize = 256 << 20

// maxLine is the longest line that benchfmt reads.
const maxLine = bufio.MaxScanTokenSize - 2

// NoRound is the round of a sample before the first mark.
const NoRound = -1

// A Reader gives the samples of a file in the Go benchmark format one by one:
//
//	unpack  gzip, UTF-16 and byte order marks, as PowerShell writes them
//	lines   whole ones only, without colours; marks of rounds and failures of go
//	        test are noted
//	parse   benchfmt's reader, with the file's name as .file
//
// What it passes over can be asked for after the last sample.
type Reader struct {
	file    *os.File
	lines   *lines
	samples *benchfmt.Reader
	sample  *benchfmt.Result

	Malformed []error // the first lines that are no samples though they begin like one
	Broken    int     // how many those are
}

// Open opens a file; label is what it is called in a .file projection.
func Open(path, label string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := unpacked(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r := &Reader{file: f, lines: &lines{from: bufio.NewReaderSize(text, maxLine), path: path}, samples: new(benchfmt.Reader)}
	r.samples.Reset(r.lines, path, ".file", label)
	return r, nil
}

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }

// Scan goes to the next sample and reports whether there is one.
func (r *Reader) Scan() bool {
	for r.samples.Scan() {
		switch record := r.samples.Result().(type) {
		case *benchfmt.Result:
			r.sample = record
			return true
		case *benchfmt.SyntaxError:
			if r.Broken++; len(r.Malformed) < 3 {
				r.Malformed = append(r.Malformed, r.lines.quoted(record))
			}
		}
	}
	return false
}

// Sample is the sample that Scan found, until the next Scan.
func (r *Reader) Sample() *benchfmt.Result { return r.sample }

// Line is the sample's line.
func (r *Reader) Line() int {
	_, line := r.sample.Pos()
	return line
}

// Round is the round that the sample's line is in, NoRound before the first.
func (r *Reader) Round() int {
	marks := r.lines.marks
	i := sort.Search(len(marks), func(i int) bool { return marks[i].line > r.Line() })
	if i == 0 {
		return NoRound
	}
	return marks[i-1].round
}

// Err is why reading ended early; nil at the end of the file.
func (r *Reader) Err() error {
	if r.lines.err != nil {
		return fmt.Errorf("%s: %w", r.lines.path, r.lines.err)
	}
	return r.samples.Err()
}

// Units are the file's Unit lines.
func (r *Reader) Units() benchfmt.UnitMetadataMap { return r.samples.Units() }

// Cut reports that the last line had no end and was left out.
func (r *Reader) Cut() bool { return r.lines.cut }

// BadMark is a line that begins like the mark of a round and is none, "" if
// there is none.
func (r *Reader) BadMark() string { return r.lines.badMark }

// Failure names the first line at which go test says that it failed, "" if none
// does.
func (r *Reader) Failure() string { return r.lines.failure }

// Prefixed names the first line that holds a result behind other text, as a log of
// CI or containers does, and how to take that away; "" if there is none.
func (r *Reader) Prefixed() string {
	l := r.lines
	if l.prefix == "" {
		return ""
	}
	pattern := l.prefix
	for _, x := range []struct{ found, as string }{{`[^\w\s:=,-]`, "."}, {`\d+`, "[0-9]+"}, {`\s+`, "[[:space:]]+"}} {
		pattern = regexp.MustCompile(x.found).ReplaceAllString(pattern, x.as)
	}
	return fmt.Sprintf("%s:%d: found %.100q before a result, sed -E 's/^%s//' takes it away", l.path, l.prefixAt, l.prefix, pattern)
}

// Form says which other form the file has that is often taken for the format, "" if
// none that is known.
func (r *Reader) Form() string { return r.lines.form }

// forms that hold no sample, known by a line.
var forms = []struct {
	line *regexp.Regexp
	is   string
}{
	{regexp.MustCompile(`\{.*"Action": ?"(?:start|run|output)"`), `this is what go test -json prints: jq -rj 'select(.Action == "output").Output' has the format`},
	{regexp.MustCompile(`^(?:,[^,]+,CI(?:,|\s*$)| .*│)`), "this is what benchstat prints, which no longer has the samples: take the files that it was given"},
	{regexp.MustCompile(`^\s*\d+\s+[0-9.e+-]+ \S+/op\b`), "figures come apart from the name of their benchmark, which printed something between: have it print nothing"},
}

// packed are files that have to be unpacked or converted first: the bytes that they
// hold at an offset. The outer gzip is unpacked already.
var packed = []struct {
	at       int
	bytes    string
	is, with string
}{
	{0, "\x28\xb5\x2f\xfd", "packed", "unpack it with zstd -d"},
	{0, "\xfd7zXZ\x00", "packed", "unpack it with xz -d"},
	{0, "BZh", "packed", "unpack it with bzip2 -d"},
	{0, "PK\x03\x04", "packed", "unpack it with unzip"},
	{0, "\x1f\x8b", "packed by gzip twice", "unpack it with gzip -d"},
	{257, "ustar", "a tar archive", "unpack it with tar -xf"},
	{0, "\xff\xfe\x00\x00", "UTF-32", "convert it with iconv -f UTF-32 -t UTF-8"},
	{0, "\x00\x00\xfe\xff", "UTF-32", "convert it with iconv -f UTF-32 -t UTF-8"},
	{1, "\x00\x00\x00", "UTF-32", "convert it with iconv -f UTF-32LE -t UTF-8"},
	{0, "\x00\x00\x00", "UTF-32", "convert it with iconv -f UTF-32BE -t UTF-8"},
}

// unpacked is the text of a file, without its byte order mark.
func unpacked(f *os.File) (io.Reader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a regular file, expected the Go benchmark format")
	}
	in := bufio.NewReader(f)
	if begin, _ := in.Peek(2); string(begin) == "\x1f\x8b" {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, err
		}
		in = bufio.NewReader(z)
	}
	begin, err := in.Peek(512)
	if err != nil && err != io.EOF {
		return nil, err
	}
	for _, p := range packed {
		if len(begin) > p.at && bytes.HasPrefix(begin[p.at:], []byte(p.bytes)) {
			return nil, fmt.Errorf("is %s, expected text or gzip: %s", p.is, p.with)
		}
	}
	limited := &atMost{in, MaxSize}
	switch {
	case bytes.HasPrefix(begin, []byte("\xff\xfe")), bytes.HasPrefix(begin, []byte("\xfe\xff")):
		return unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Reader(limited), nil
	case len(begin) > 1 && begin[0] == 0:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder().Reader(limited), nil
	case len(begin) > 1 && begin[1] == 0:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder().Reader(limited), nil
	}
	return unicode.UTF8BOM.NewDecoder().Reader(limited), nil
}

// atMost is a reader that fails after so many bytes.
type atMost struct {
	from io.Reader
	left int64
}

func (r *atMost) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if r.left -= int64(n); r.left < 0 {
		return 0, fmt.Errorf("holds more than %d MiB, expected at most that", MaxSize>>20)
	}
	return n, err
}

// lines passes a file's whole lines on.
type lines struct {
	from     *bufio.Reader
	path     string
	n        int    // lines read
	line     []byte // the last one
	pending  []byte // of it, not yet passed on
	marks    []struct{ line, round int }
	badMark  string
	failure  string
	prefix   string // before the first result that doesn't begin its line
	prefixAt int    // that line
	form     string // what the first line of another form is, with its place
	cut      bool
	err      error
}

func (l *lines) Read(p []byte) (int, error) {
	if len(l.pending) == 0 {
		if l.err != nil {
			return 0, l.err
		}
		line, err := l.from.ReadSlice('\n')
		switch {
		case err == io.EOF:
			l.cut = len(line) > 0
			if l.cut {
				l.n++
				l.note(uncoloured(line)) // a panic may come without a line's end
			}
			return 0, io.EOF
		case err == bufio.ErrBufferFull: // no sample is that long, a log may be
			if bytes.HasPrefix(uncoloured(line), []byte("Benchmark")) {
				err = fmt.Errorf("line %d is longer than %d KiB", l.n+1, maxLine>>10)
				break
			}
			for err == bufio.ErrBufferFull {
				_, err = l.from.ReadSlice('\n')
			}
			line = []byte("\n")
		}
		if err != nil && err != io.EOF {
			l.err = err
			return 0, err
		}
		l.n++
		l.line = l.note(uncoloured(line))
		l.pending = l.line
	}
	n := copy(p, l.pending)
	l.pending = l.pending[n:]
	return n, nil
}

// escapes are a terminal's commands: CSI as in colours, the strings of OSC, DCS and
// APC, and the short ones.
var escapes = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P_^X][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]*[0-~])`)

// uncoloured is a line without escapes, as the terminal would show it.
func uncoloured(line []byte) []byte {
	if bytes.IndexByte(line, '\x1b') < 0 {
		return line
	}
	return escapes.ReplaceAll(line, nil)
}

// quoted is a fault with the line it is in, if that was the last.
func (l *lines) quoted(err *benchfmt.SyntaxError) error {
	if err.Line != l.n {
		return err
	}
	return fmt.Errorf("%s:%d: found %.60q: %s", err.FileName, err.Line, bytes.TrimSpace(l.line), err.Msg)
}

// failures are the lines with which go test, a shell or a CI system tells of a
// benchmark that failed, also behind a progress line, a log's time or the name of
// the benchmark. A log may hold the same words: behind spaces alone FAIL counts only
// as go test prints it.
var failures = regexp.MustCompile(`^(?:.*\r)?(?:FAIL\b|` +
	`\s*` + behind + `(?:(?:---|===) FAIL: |FAIL(?:\s*$|\t|: (?:Benchmark|Test)|\s+\S+\s+(?:[0-9.]+s|\[\w+ failed\])))|` +
	`\t?` + behind + `(?:panic: |fatal error: |signal: |SIG[A-Z]+: |\[signal SIG|\*\*\* Test killed|exit status [1-9]|g?make(?:\[\d+\])?: \*\*\* |` +
	`WARNING: DATA RACE|Found [1-9]\d* data race|(?:\S+: line \d+:\s+\d+ )?(?:(?:Segmentation fault|Killed|Aborted|Bus error)\s*$|.*\(core dumped\))|` +
	`(?:##\[error\]|Error: )(?:Process completed with exit code -?[1-9]|The operation was canceled)|::error(?: .*)?::|` +
	`ERROR: (?:Job failed|script returned exit code -?[1-9])|🚨 Error: |Finished: (?:FAILURE|ABORTED)\s*$))`)

// behind is the time of a log's line with its stream, as in CRI and GitLab, and a
// benchmark's name.
const behind = `(?:\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d\S*\s+(?:std(?:out|err) F |\d\d[OE] )?)?(?:Benchmark\S*\s+)?`

// said are lines of the go command and of logs that look like a configuration, which
// would separate the results behind them.
var said = regexp.MustCompile(`^(?:go: (?:downloading|finding|extracting|added|upgraded|downgraded|removed|warning|updates|to) ?|testing: warning: |(?:debug|warning|error): )`)

// prefixed is a line that holds a result behind other text, but for comments.
var prefixed = regexp.MustCompile(`^([^#].{0,200}?)\bBenchmark\S*\s+\d+\s+[0-9.e+-]+ \S+/op\b`)

// note keeps what a line tells besides samples. benchfmt would take a failure
// for a configuration that separates what follows.
func (l *lines) note(line []byte) []byte {
	if mark, ok := bytes.CutPrefix(line, []byte(RoundMark)); ok {
		number, _, _ := bytes.Cut(mark, []byte(" "))
		if round, err := strconv.Atoi(string(bytes.TrimSpace(number))); err == nil && round >= 0 {
			l.marks = append(l.marks, struct{ line, round int }{l.n, round})
		} else if l.badMark == "" {
			l.badMark = fmt.Sprintf("%s:%d: found %.40q", l.path, l.n, line)
		}
		return line
	}
	if bytes.HasPrefix(line, []byte("Benchmark")) { // name, tab, number: nearly all lines
		_, rest, _ := bytes.Cut(line, []byte("\t"))
		if rest = bytes.TrimLeft(rest, " "); len(rest) > 0 && '0' <= rest[0] && rest[0] <= '9' {
			return line
		}
	}
	if said.Match(line) {
		return []byte("\n")
	}
	if !failures.Match(line) {
		if l.prefix == "" && bytes.Contains(line, []byte("Benchmark")) {
			if m := prefixed.FindSubmatch(line); m != nil {
				l.prefix, l.prefixAt = string(m[1]), l.n
			}
		}
		for _, f := range forms {
			if l.form == "" && f.line.Match(line) {
				l.form = fmt.Sprintf("%s:%d: %s", l.path, l.n, f.is)
			}
		}
		return line
	}
	if l.failure == "" {
		l.failure = fmt.Sprintf("%s:%d: %.200s", l.path, l.n, bytes.TrimSpace(line))
	}
	return []byte("\n")
}

// CopyLines writes the whole lines of a file in the Go benchmark format.
func CopyLines(w io.Writer, path string) error {
	r, err := Open(path, path)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(w, r.lines)
	return err
}
