#!/bin/sh
# The stages of the published run, in order. Usage: PY=/path/to/venv/bin/python sh recipe.sh OUT
# Owns: step counts, rates and mixtures. Refuses: anything that train.py decides.
set -e
OUT=$1; cd "$(dirname "$0")"; mkdir -p "$OUT"
export OMP_NUM_THREADS=1
[ -f "$OUT/tokenizer.json" ] || "$PY" tokenizer.py "$OUT/tokenizer.json"
stage() { nice -n 19 "$PY" train.py --out "$OUT" --tokenizer "$OUT/tokenizer.json" --save-every 50 "$@"; }
stage --stop-at 700 --steps 100000 --decay 800 --lr 2e-3 --budget 2048
stage --stop-at 750 --steps 100000 --decay 800 --lr 2e-3 --budget 2048 --focus-from 700
stage --stop-at 900 --steps 100000 --decay 800 --lr 2e-3 --budget 1024 --focus-from 700 --round-every 0
stage --stop-at 1300 --steps 1650 --decay 750 --lr 1.2e-3 --budget 1024 --focus-from 700 --round-every 0
stage --stop-at 1350 --steps 1650 --decay 750 --lr 1.2e-3 --budget 1024 --focus-from 700 --round-every 5
stage --steps 1750 --decay 400 --lr 8e-4 --budget 1024 --focus-from 700 --core-from 1350 --round-every 5
stage --steps 4400 --decay 2200 --lr 8e-4 --budget 1024 --focus-from 700 --core-from 1350 --round-every 5
