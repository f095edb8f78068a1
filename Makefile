# make demo   break a small simulation on purpose and diagnose it
# make test   everything that CI runs; installs what it needs
# make wheel  the Python package with its library, as a wheel in dist/
# make        build bin/nanguard and bin/viznan

SHELL := /bin/bash
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS := -s -w -X github.com/nanguard/nanguard/internal/version.stamp=$(VERSION)
FAULT ?= contact

.PHONY: build demo test bench docs wheel clean go

build: go
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/nanguard ./cmd/nanguard
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/viznan ./cmd/viznan

demo: build
	./bin/nanguard demo $(FAULT) -o demo_dumps

test: go
	./.ci/test

bench: go
	go test -run '^$$' -bench . -benchtime 200ms ./tensor ./detect/... ./dump ./rootcause ./mjb

# What is generated from the program itself: the picture of viznan.
docs: build
	./tools/docs.sh

wheel: go
	python3 python/build_wheel.py -o dist --check

clean:
	rm -rf bin dist demo_dumps

go:
	@command -v go >/dev/null || { \
	  echo 'nanguard needs Go 1.26 or newer, and there is no go on the PATH.' >&2; \
	  echo 'Debian 13:  apt-get install golang-go   (it fetches the newer toolchain by itself)' >&2; \
	  echo 'elsewhere:  https://go.dev/doc/install' >&2; exit 1; }
