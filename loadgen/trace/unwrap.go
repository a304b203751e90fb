package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/loadgen/trace/internal/jsondoc"
)

// unwrap finds the audit events inside of a document that a log service or a
// container runtime made of them: as JSON in a string ("log" of Docker and
// Azure, "message" of CloudWatch, "_raw" of Splunk), or as an object below
// others ("_source" of Elasticsearch). What can't be had so is refused with the
// way to have it. Docker splits long lines, whose parts are kept by stream.
func unwrap(document []byte, partial *map[string][]byte) (texts []string, refusal string) {
	var docker struct {
		Log    *string `json:"log"`
		Stream string  `json:"stream"`
	}
	if json.Unmarshal(document, &docker) == nil && docker.Log != nil && docker.Stream != "" {
		line := append((*partial)[docker.Stream], *docker.Log...)
		if whole := bytes.HasSuffix(line, []byte("\n")) || json.Valid(line); !whole && len(line) < mostBytes {
			if *partial == nil {
				*partial = map[string][]byte{}
			}
			(*partial)[docker.Stream] = line
			return nil, ""
		}
		delete(*partial, docker.Stream)
		return auditTexts(string(line)), ""
	}
	var content any
	if json.Unmarshal(document, &content) != nil {
		return nil, ""
	}
	if top, ok := content.(map[string]any); ok {
		for _, r := range refusals {
			if _, ok := top[r.member]; ok {
				return nil, r.problem
			}
		}
	}
	return within(content, nil, 0), ""
}

// refusals are known by a member of the document.
var refusals = []struct{ member, problem string }{
	{"protoPayload", `found Google Cloud's own audit log, which names no responses and times of Kubernetes, expected Kubernetes' audit events; record with benchrun trace record`},
	{"AuditId", `found rows of Azure's table AKSAudit, expected audit events; convert with ` +
		`jq -c '(if type=="array" then .[] else . end)|{kind:"Event",apiVersion:"audit.k8s.io/v1",level:.Level,auditID:.AuditId,stage:.Stage,verb:.Verb,requestURI:.RequestUri,` +
		`user:(.User|if type=="string" then fromjson else . end),objectRef:(.ObjectRef|if type=="string" then fromjson else . end),` +
		`responseStatus:(.ResponseStatus|if type=="string" then fromjson else . end),requestReceivedTimestamp:.RequestReceivedTime,stageTimestamp:.StageReceivedTime}'`},
}

// deepestWrapping is how far down an audit event may be.
const deepestWrapping = 8

func within(content any, texts []string, depth int) []string {
	if depth > deepestWrapping {
		return texts
	}
	switch c := content.(type) {
	case string:
		return append(texts, auditTexts(c)...)
	case []any:
		for _, item := range c {
			texts = within(item, texts, depth+1)
		}
	case map[string]any:
		if version, _ := c["apiVersion"].(string); strings.HasPrefix(version, auditGroup) {
			if text, err := json.Marshal(c); err == nil {
				return append(texts, string(text))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(c)) {
			texts = within(c[name], texts, depth+1)
		}
	}
	return texts
}

// auditTexts is a text if it is audit events, or a document that wraps some.
func auditTexts(text string) []string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") || !strings.Contains(text, auditGroup) {
		return nil
	}
	var object map[string]any
	if json.Unmarshal([]byte(text), &object) != nil || object["kind"] != nil {
		return []string{text}
	}
	return within(object, nil, 1)
}

// linePrefix is what a container runtime puts before each line of a container:
// the time, the stream, and F for a whole line or P for a part of one.
var linePrefix = regexp.MustCompile(`^\S+ (stdout|stderr) ([FP](?::[^ ]*)?) `)

// A prefixed reader takes away what stands before the JSON on each line: the
// node's or the pod's name, a time, or what a container runtime writes. Lines
// without JSON become empty, so that the others keep their numbers. A file of which
// not one has any is refused.
type prefixed struct {
	in    *bufio.Reader
	rest  []byte
	parts map[string][]byte // of lines that the runtime has split, by stream
	n     int               // lines read
	found bool
	bad   error // the first line with an audit event that is no JSON
	err   error
}

func (p *prefixed) Read(to []byte) (int, error) {
	for len(p.rest) == 0 {
		if p.err == io.EOF && !p.found && p.bad != nil {
			return 0, p.bad
		}
		if p.err != nil {
			return 0, p.err
		}
		p.rest = p.line()
	}
	n := copy(to, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

var errLongLine = errors.New("found a line of more than 64 MiB")

func (p *prefixed) line() []byte {
	var line []byte
	for {
		piece, err := p.in.ReadSlice('\n')
		line = append(line, piece...)
		if err != bufio.ErrBufferFull {
			p.err = err
			break
		}
		if len(line) > mostBytes {
			p.err = errLongLine
			return nil
		}
	}
	p.n++
	content := bytes.TrimRight(line, "\r\n")
	if m := linePrefix.FindSubmatchIndex(content); m != nil {
		stream, part := string(content[m[2]:m[3]]), content[m[4]] == 'P'
		content = append(p.parts[stream], content[m[1]:]...)
		delete(p.parts, stream)
		if part && p.err == nil && len(content) < mostBytes {
			if p.parts == nil {
				p.parts = map[string][]byte{}
			}
			p.parts[stream] = content
			return []byte("\n")
		}
	}
	begin := bytes.Index(content, []byte(`{"`))
	if begin < 0 {
		return []byte("\n")
	}
	content = content[begin:]
	if !json.Valid(content) && p.err != io.EOF { // who reads the last line says that it is cut
		if p.bad == nil && bytes.Contains(content, []byte(auditGroup)) {
			problem, _ := syntaxProblem(content)
			p.bad = &jsondoc.Error{Line: p.n, Problem: "found an audit event behind other text, expected it as JSON up to the line's end: " + problem}
		}
		return []byte("\n")
	}
	p.found = true
	return append(content, '\n')
}

// hasPrefixes reports whether lines of JSON have something before it: as the
// entries of audit logs do that came through a container's output.
func hasPrefixes(head []byte) bool {
	text := bytes.TrimLeft(head, " \t\r\n")
	if len(text) == 0 || text[0] == '{' || text[0] == '[' {
		return false
	}
	return bytes.Contains(text, []byte(`{"`)) && bytes.Contains(text, []byte(auditGroup))
}
