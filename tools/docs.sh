#!/usr/bin/env bash
# Renews what the documentation shows of the program: the picture of viznan,
# from the demo's own dump. Run it after a change of the screen (make docs).
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

./bin/nanguard demo contact --seed 2 -o "$work" >/dev/null 2>&1
mv "$(readlink -f "$work/nan_dump_latest.npz")" "$work/nan_dump.npz"
mkdir -p docs/img
CLICOLOR_FORCE=1 ./bin/viznan --once --theme dark --width 150 --height 44 "$work/nan_dump.npz" |
  go run ./tools/shot -title "viznan nan_dump.npz" > docs/img/viznan.svg
