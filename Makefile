# informerbench: compares the machinery between a watch event and a reconcile.
.DEFAULT_GOAL := help
FUZZTIME ?= 30s
SOAK ?= 1h
# As benchrun's own builds have it, so that all of them share what is compiled.
export GOFLAGS := $(filter-out -trimpath,$(GOFLAGS)) -trimpath

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
run: ## compare every variant on the quick profile (about 2 minutes) and write a report
	go run ./cmd/benchrun run
build: ## build benchrun into the current folder
	go build -o benchrun ./cmd/benchrun
test: ## run the tests
	go test -timeout 30m ./...
	go test -C impl -timeout 30m ./...
race: ## run the tests under the race detector
	scripts/race.sh
bench: ## run every benchmark through go test, for benchstat -col /impl
	go test -run '^$$' -bench . -timeout 1h ./bench
lint: ## gofmt, go vet, staticcheck, go mod tidy
	scripts/lint.sh
minors: ## build and test the library against each supported Kubernetes minor
	scripts/minors.sh
matrix: ## run the conformance suites under other schedulers and collectors; vet for each platform
	scripts/conformance-matrix.sh
fuzz: ## fuzz every target, FUZZTIME in all (default 30s)
	scripts/fuzz.sh $(FUZZTIME)
growth: ## show by how much the library makes a small controller's binary larger
	scripts/binary-growth.sh
soak: ## run queues and informers for SOAK each (default 1h) and balance their counts
	go test -C impl ./conformance -run '^TestSoak' -v -timeout 0 -args -soak $(SOAK)
e2e: ## drive every informer against a real API server (builds one first, minutes)
	go test -C loadgen/apiserver -count=1 -v -p 1 -timeout 30m ./...
peers: ## run the contract on other projects' queues and caches
	go test -C bench/peers ./...
ablation: ## show what each technique of each variant brings (RUN: its result directory)
	go run ./cmd/benchrun ablation --out $(or $(RUN),reports/out/ablation)
results: ## write reports/results from the result directories in RUN
	go run ./cmd/benchrun results $(RUN)
judge: ## judge tune on 102 fresh controllers and write reports/results/judge.md (an hour)
	mkdir -p reports/results
	go test ./bench/tune -run TestFresh -count=1 -timeout 0 -v -args -fresh 102 -fresh-from $$(date +%s) -page ../../reports/results/judge.md
	go test ./bench/tune -count=1 -timeout 0 -args -known 2 -judged 2
smoke: ## a short run of the main job
	go run ./cmd/benchrun run --budget 20s

.PHONY: help run build test race bench lint minors matrix growth fuzz soak e2e peers ablation results judge smoke
