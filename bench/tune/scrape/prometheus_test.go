package scrape

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// server answers queries as Prometheus does, each by the part of its text that it holds, and
// only to who has the token.
func server(t *testing.T, answers map[string]string) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		result := "[]"
		for part, answer := range answers {
			if strings.Contains(r.FormValue("query"), part) {
				result = answer
			}
		}
		if !strings.Contains(r.FormValue("query"), `,job="kcm"}[1h:30s]`) {
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(map[string]string{"status": "error", "errorType": "bad_data", "error": "found " + r.FormValue("query")})
			return
		}
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"matrix","result":%s}}`, result)
	}))
	t.Cleanup(s.Close)
	return s
}

// Native histograms have buckets of their own, of which only those that hold something are
// listed; they are asked for with whatever a file says of authorization.
func TestQueryNativeHistograms(t *testing.T) {
	const at, later = 1764100000, 1764100030
	buckets := func(counts ...int) string {
		bounds := []string{"0.0625", "0.125", "0.25", "0.5", "1"}
		var list []string
		for i, n := range counts {
			if n > 0 {
				list = append(list, fmt.Sprintf(`[0,%q,%q,"%d"]`, bounds[i], bounds[i+1], n))
			}
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	histogram := func(metric string) string {
		return fmt.Sprintf(`[{"metric":{"__name__":%q,"job":"kcm","instance":"a:1","name":"q"},"histograms":[[%d,{"count":"3","sum":"0.4","buckets":%s}],[%d,{"count":"9","sum":"2","buckets":%s}]]}]`,
			metric, at, buckets(2, 1), later, buckets(3, 1, 0, 5))
	}
	s := server(t, map[string]string{
		"workqueue_queue_duration": histogram("workqueue_queue_duration_seconds"),
		"workqueue_work_duration":  histogram("workqueue_work_duration_seconds"),
		"adds_total":               fmt.Sprintf(`[{"metric":{"__name__":"workqueue_adds_total","job":"kcm","instance":"a:1","name":"q"},"values":[[%d,"3"],[%d,"9"]]}]`, at, later),
	})
	config := filepath.Join(t.TempDir(), "http.yaml")
	require.NoError(t, os.WriteFile(config, []byte("authorization:\n  credentials: secret\n"), 0o666))
	q := Query{URL: s.URL, Config: config, Selector: `{job="kcm"}`, Range: time.Hour, Step: 30 * time.Second, Progress: func(string) {}}
	list, err := q.Run(t.Context(), time.Unix(later, 0))
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, "a:1", list[0].Target)
	d, err := Over(list, 0)
	require.NoError(t, err)
	assert.Equal(t, 6.0, d.Queues["q"].Adds)
	assert.Equal(t, Histogram{Bounds: []float64{0.0625, 0.125, 0.25, 0.5, 1}, Counts: []float64{0, 1, 0, 0, 5, 0}, Sum: 1.6}, d.Queues["q"].Work)

	q.Config = ""
	_, err = q.Run(t.Context(), time.Unix(later, 0))
	assert.ErrorContains(t, err, "401")
	q.Config, q.Selector = config, `{job="other"}`
	_, err = q.Run(t.Context(), time.Unix(later, 0))
	assert.ErrorContains(t, err, s.URL+": found {__name__")
	q.Selector = "job"
	_, err = q.Run(t.Context(), time.Unix(later, 0))
	assert.ErrorContains(t, err, `--selector: found "job", expected matchers as in {job="kube-controller-manager"}`)
	q.Selector, q.Config = `{job="kcm"}`, "/none.yaml"
	_, err = q.Run(t.Context(), time.Unix(later, 0))
	assert.ErrorContains(t, err, "/none.yaml: ")
}
