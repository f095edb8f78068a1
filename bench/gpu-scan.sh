#!/usr/bin/env bash
# The GPU scanner's benchmarks, for a machine with a GPU and without Go:
#
#   bench/gpu-scan.sh build        here; makes bin/gpu.test
#   bench/gpu-scan.sh run [out]    there, in the same tree; needs no network
#
# run first checks that the GPU says what the host says, because the time of a
# wrong answer means nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
case "${1:-}" in
build)
  CGO_ENABLED=0 go test -c -o bin/gpu.test ./detect/scan/gpu ;;
run)
  out=$(realpath "${2:-bench/results}")
  export NANGUARD_TEST_GPU=required
  cd detect/scan/gpu
  nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem --format=csv,noheader | tee "$out/gpu-scan.txt"
  ../../../bin/gpu.test -test.run '/gpu'
  ../../../bin/gpu.test -test.run none -test.bench 'Check|Enqueue|Snapshot' -test.benchtime 15x | tee -a "$out/gpu-scan.txt"
  ../../../bin/gpu.test -test.run none -test.bench ReadOnly -test.benchtime 3x | tee -a "$out/gpu-scan.txt" ;;
*)
  sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
