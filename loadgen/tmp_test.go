package loadgen
import ("testing";"encoding/json";"fmt")
func TestTmp(t *testing.T){
 spec,err:=ParseSpec("x",[]byte(`
duration: 100s
resources:
- {count: 400, nodes: 50, namespaces: 7, events: {pattern: rollout, arrivals: {rate: 100}}}
- {kind: node, count: 50, events: {pattern: heartbeat, arrivals: {kind: constant, rate: 1}}}
- {kind: lease, count: 50, events: {pattern: heartbeat, arrivals: {kind: constant, rate: 5}}}
- {kind: endpointslice}
- {kind: endpointslice, name: foreign, count: 5, events: {mix: {update: 1}, arrivals: {rate: 5}}}
- {kind: custom, count: 50, size: 16Ki, events: {mix: {add: 1, update: 5, delete: 1}, arrivals: {kind: constant, rate: 5}}}
- {kind: pod, name: jobs, size: 16Ki, count: 50, events: {pattern: lifecycle, life: {age: 5s}, arrivals: {kind: constant, rate: 5}}}
`))
 if err!=nil {t.Fatal(err)}
 es,err:=readAll(spec.Stream())
 if err!=nil {t.Fatal(err)}
 n:=map[string]int{}; sz:=map[string]int{}
 for _,e:=range es { b,_:=json.Marshal(e.Object); k:=fmt.Sprint(spec.Resources[e.Resource].Name,e.Type); n[k]++; sz[k]+=len(b); if n[k]==3 && e.Type=="MODIFIED" {fmt.Println(string(b))} }
 for k:=range n { fmt.Println(k,n[k],sz[k]/n[k]) }
}
