# Every target works on a fresh clone with Go, git and make. `make` lists them.

GO ?= go
# A tool of its own module: its dependencies are not ours.
GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.8.0

# Tests below these start real processes, or several nodes in one. They run one
# package at a time: a busy second core makes false elections.
PROCESS_DIRS := $(patsubst %,./%/...,$(wildcard cluster cmd jepsen))
PROCESS_PATHS := /(cluster|cmd|jepsen)(/|$$)
# Tests that open a Raft store. Where it matters they run over both kinds; the
# others over what OMNI_TEST_STORE names, or the default.
STORE_DIRS := ./cluster/... ./cmd/... ./transport/client/... ./transport/raftstream/...
UNIT = $$($(GO) list ./... | grep -Ev '$(PROCESS_PATHS)')

FUZZTIME ?= 10s
BENCHTIME ?= 1s

.DEFAULT_GOAL := help
.PHONY: help build run test upgrade-test test-deploy test-race test-long test-386 test-root test-postgres sim sim-planted jepsen-smoke jepsen jepsen-soak jepsen-planted image-context image deploy-test release vuln bench bench-check fuzz lint fmt clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/omni
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/omni ./cmd/omni

run: build ## build, then show the main job: three nodes carry an agent while their leader is killed
	./bin/omni demo

test: ## vet, house rules and all quick tests
	$(GO) vet ./...
	$(GO) test $(UNIT)
	$(GO) test -p 1 -timeout 20m $(PROCESS_DIRS)
	$(MAKE) test-deploy
	$(MAKE) upgrade-test

# The last commit whose binary knows kernel version 1 only (docs/upgrades.md).
VERSION1 = ec8be96288ba231f6102de1117fac781523cf2dc

upgrade-test: ## upgrade a live cluster from that commit's binary, node by node (part of test)
	@if git cat-file -e '$(VERSION1)^{commit}' 2>/dev/null; then \
		$(GO) vet -tags upgrade ./cmd/omni && $(GO) test -tags upgrade -timeout 10m -run TestLiveUpgrade ./cmd/omni; \
	else \
		echo 'NOT CHECKED: this checkout has no commit $(VERSION1), so nobody has upgraded a live cluster from it' >&2; \
	fi

test-deploy: ## is what deploy/ has taken by those that it is for (part of test)
	@if command -v systemd-analyze >/dev/null; then \
		$(GO) vet -tags systemd ./deploy/systemd && $(GO) test -tags systemd ./deploy/systemd; \
	else \
		echo 'NOT CHECKED: there is no systemd-analyze here, so nobody has looked at deploy/systemd' >&2; \
	fi
	cd deploy/kubernetes && $(GO) vet ./... && $(GO) test ./...

test-race: ## the same tests under the race detector
	CGO_ENABLED=1 $(GO) test -race -timeout 20m $(UNIT)
	CGO_ENABLED=1 $(GO) test -race -p 1 -timeout 20m $(PROCESS_DIRS)

test-long: ## also what takes minutes: tests behind the build tag `long`, and all over raft-wal
	$(GO) vet -tags long ./...
	$(GO) test -tags long -timeout 60m $(UNIT)
	$(GO) test -tags long -p 1 -timeout 120m $(PROCESS_DIRS)
	$(GO) test -tags long,root -p 1 -timeout 60m ./jepsen/lab/...
	OMNI_TEST_STORE=bolt $(GO) test -timeout 20m ./cluster/consensus
	OMNI_TEST_STORE=wal $(GO) test -p 1 -timeout 40m $(STORE_DIRS)

test-386: ## the replicated state on 32 bits: the same bytes
	GOARCH=386 CGO_ENABLED=0 $(GO) test ./kernel/... ./fsm/...

sim: ## simulate 200 seeds of kernels and 50 of whole nodes (jepsen/README.md)
	$(GO) test ./jepsen/sim -run TestKernels -seeds 200 -v -timeout 20m
	$(GO) test ./jepsen/sim -run TestNodes -seeds 50 -v -timeout 20m

sim-planted: ## build each planted bug, and demand that the simulation finds it
	jepsen/sim/planted

# Fault tests of real processes: Linux and root. What is missing is installed, and
# what an interrupted run left is removed.
JEPSEN_OUT ?= jepsen-reports
HOURS ?= 8
JEPSEN = jepsen/install && $(GO) build -trimpath -o bin/jepsen ./jepsen && bin/jepsen sweep

test-root: ## tests of what the fault tests stand on: networks and disks that fail
	jepsen/install
	$(GO) vet -tags root ./jepsen/lab/...
	$(GO) test -tags root -p 1 ./jepsen/lab/...

test-postgres: ## the export to PostgreSQL, with a real server that the tests start
	cmd/omni/export/install
	$(GO) vet -tags postgres ./cmd/omni/export
	$(GO) test -tags postgres -count 1 ./cmd/omni/export

jepsen-smoke: ## quick fault tests of real processes, under 6 minutes
	$(JEPSEN)
	bin/jepsen run --smoke --operations 36000 --out $(JEPSEN_OUT)

jepsen: ## every scenario, and every planted bug: about an hour
	$(JEPSEN)
	bin/jepsen run --all --rounds 3 --out $(JEPSEN_OUT)
	bin/jepsen planted --out $(JEPSEN_OUT)

jepsen-soak: ## every scenario again and again with new seeds: make jepsen-soak HOURS=8
	$(JEPSEN)
	bin/jepsen run --for $(HOURS)h --out $(JEPSEN_OUT)

jepsen-planted: ## build each planted bug, and demand that the fault tests find it
	$(JEPSEN)
	bin/jepsen planted --out $(JEPSEN_OUT)

IMAGE ?= omni:dev

image-context: build
	rm -rf bin/image
	mkdir -p bin/image/data
	cp bin/omni bin/image/omni

image: image-context ## build the container image omni:dev, from scratch (IMAGE=NAME)
	docker build -q -t $(IMAGE) -f deploy/compose/Dockerfile bin/image

deploy-test: ## the containers of deploy/compose on a real Docker engine, started if none runs
	deploy/compose/test

release: ## dist/: archives for each platform, SBOMs, SHA256SUMS; the same bytes wherever it runs (VERSION=v1.2.3)
	GO=$(GO) $(GO) run ./deploy/release --out dist $(if $(VERSION),--version $(VERSION))

vuln: ## known vulnerabilities in what is called (govulncheck, pinned; asks vuln.go.dev)
	@mkdir -p bin
	@GOBIN=$(CURDIR)/bin $(GO) install $(GOVULNCHECK)
	@bin/govulncheck ./...; code=$$?; case $$code in \
		0|3) ;; \
		*) echo 'NOT CHECKED: govulncheck could not do its work; does this machine reach https://vuln.go.dev (GOVULNDB)?' >&2 ;; \
	esac; exit $$code

bench: build ## measure, and write docs/benchmarks.md
	BENCHTIME=$(BENCHTIME) .ci/bench

bench-check: ## fail if the kernel costs more than its budget (docs/architecture.md)
	.ci/bench-check

fuzz: ## every fuzz target for FUZZTIME (10s) each
	@set -e; for package in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
			echo "== $$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 50x $$package; \
		done; \
	done

lint: ## golangci-lint, pinned, built through the Go proxy
	$(GO) run $(GOLANGCI) run ./...

fmt: ## format the tree
	gofmt -w $$($(GO) list -f '{{.Dir}}' ./...)

clean: ## remove what was built
	rm -rf bin dist
	$(GO) clean -testcache
