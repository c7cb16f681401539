#!/bin/sh
# From a checkpoint to the file, its numbers and its card. Usage: PY=/path/to/venv/bin/python sh finish.sh FOLDER [--install]
# Needs a built Hearth (node dist/cli.js in the repository) and, beside requirements.txt, what test/oracles/requirements.txt names.
# EACH and QUESTIONS make a short trial possible. Owns: the order of the steps. Refuses: deciding what counts as right.
# Everything lands in FOLDER; --install also replaces ../starter.gguf, ../CARD.md, ../loss.svg and the expected logits of the native tests.
set -e
OUT=$(cd "$1" && pwd); cd "$(dirname "$0")"; ROOT=$(cd ../../.. && pwd); PORT=${PORT:-4399}; EACH=${EACH:-40}; QUESTIONS=${QUESTIONS:-../heldout/questions.jsonl}
rm -rf "$OUT/hearth-data"
"$PY" export_gguf.py "$OUT/checkpoint.pt" "$OUT/tokenizer.json" "$OUT/starter-new.gguf"
"$PY" plot_loss.py "$OUT/log.jsonl" "$OUT/loss.svg"
"$PY" evaluate.py "$OUT" --each "$EACH" --out "$OUT/abilities.json"
"$PY" check_export.py "$OUT" > "$OUT/export.txt"; cat "$OUT/export.txt"
"$PY" export_hf.py "$OUT/starter-new.gguf" "$OUT/hf"
"$PY" check_hf.py "$OUT/starter-new.gguf" "$OUT/hf" --out "$OUT/expected.txt" > "$OUT/hf.txt"; cat "$OUT/hf.txt"
node "$ROOT/dist/cli.js" bench "$OUT/starter-new.gguf" --prefill 128 --decode 128 --json --data-dir "$OUT/hearth-data" > "$OUT/speed.json"
"$PY" overlap.py "$QUESTIONS" > "$OUT/overlap.txt"; cat "$OUT/overlap.txt"
node "$ROOT/dist/cli.js" serve --port "$PORT" --data-dir "$OUT/hearth-data" --model "$OUT/starter-new.gguf" > "$OUT/serve.log" 2>&1 & SERVER=$!
trap 'kill $SERVER' EXIT
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do curl -s "http://127.0.0.1:$PORT/v1/models" > /dev/null && break; sleep 1; done
"$PY" ask.py "$QUESTIONS" "$OUT/answers.jsonl" --url "http://127.0.0.1:$PORT/v1" --model starter-new
"$PY" ../heldout/score.py "$OUT/answers.jsonl" > "$OUT/score.txt" || true
"$PY" card.py "$OUT" > "$OUT/CARD.md"
if [ "$2" = --install ]; then cp "$OUT/starter-new.gguf" ../starter.gguf; cp "$OUT/CARD.md" ../CARD.md; cp "$OUT/loss.svg" ../loss.svg
  mkdir -p "$ROOT/test/fixtures/oracles/starter" && cp "$OUT/expected.txt" "$ROOT/test/fixtures/oracles/starter/transformers.txt"; fi
echo "done: $OUT/starter-new.gguf, $OUT/CARD.md, $OUT/score.txt"
