"""Write the card of a trained model from what was measured. Usage: python card.py FOLDER > CARD.md
Owns: the words of the card. Refuses: numbers that nobody measured: what is missing is said to be missing."""
from __future__ import annotations

import hashlib
import json
import os
import platform
import sys

import torch

import harmony
from data import intents
from model import Config, Starter
from sample import load
from tokenizer import Tokenizer
from train import answerer

SHOW = ['Hello!', 'Who are you?', 'What is Hearth?', 'What can you do?', 'How do I get gpt-oss-20b?', 'Is it private?', 'My answers are cut off, what can I do?', 'What is 47 + 38?', 'Tom has 12 apples and gives 5 to Mia. How many are left?', 'Tell me a story about a lighthouse.',
        'Make this polite: Give me the key.', 'Write a Python program', 'What is the capital of Norway?', '你好', '你是谁', 'Hearth 是什么？', '怎么下载 gpt-oss-20b？', '36 加 27 等于多少？', '讲一个小猫的故事', '今天天气怎么样？']


def text_of(folder: str, name: str) -> str:
    path = os.path.join(folder, name)
    return open(path, encoding='utf-8').read().strip() if os.path.exists(path) else 'not measured'


def processor() -> str:
    """Its name as the system has it, where it has one."""
    try:
        return next(line.split(':')[1].strip() for line in open('/proc/cpuinfo') if line.startswith('model name'))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def speed_of(folder: str) -> str:
    path = os.path.join(folder, 'speed.json')
    if not os.path.exists(path):
        return 'Speed: not measured.'
    measured = json.load(open(path))
    row = measured['measurements'][0]
    return f"Loaded in {measured['load_ms']:.0f} ms, writes {row['decode_tps']['median']:.0f} tokens a second after {row['prefill']} (`hearth bench`, {os.cpu_count()} cores, {processor()})."


def remarks(folder: str) -> str:
    """FOLDER/remarks.md: what somebody did by hand during the run, as items of a list."""
    path = os.path.join(folder, 'remarks.md')
    return open(path, encoding='utf-8').read() if os.path.exists(path) else ''


def main() -> None:
    folder = sys.argv[1]
    file = os.path.join(folder, 'starter-new.gguf')
    blob = open(file, 'rb').read()
    ck = torch.load(os.path.join(folder, 'checkpoint.pt'), weights_only=False)
    c, tok = Config(**ck['config']), Tokenizer.load(os.path.join(folder, 'tokenizer.json'))
    model = load(os.path.join(folder, 'checkpoint.pt'))
    rows = [json.loads(line) for line in open(os.path.join(folder, 'log.jsonl'))]
    measured = json.load(open(os.path.join(folder, 'abilities.json'))) if os.path.exists(os.path.join(folder, 'abilities.json')) else dict(cost={}, scores={})
    cost, scores = measured['cost'], measured['scores']
    total = sum(p.numel() for p in Starter(c).parameters())
    at_work = total - c.layers * (c.experts - c.top_k) * 3 * c.ffn * c.hidden - c.vocab * c.hidden
    prompts = [harmony.prompt('low', '2026-11-29') + harmony.user(q) + [(harmony.START, 0), ('assistant', 0)] for q in SHOW]
    answers = [harmony.parse(x) for x in answerer(model, tok)(prompts)]
    table = '\n'.join(f'| {q} | {(a["final"] if a and a["final"] else "(not well formed)").replace(chr(10), " / ")} |' for q, a in zip(SHOW, answers))
    kinds = '\n'.join(f'| {k} | {v[0]} of {v[1]} |' for k, v in sorted(scores.items()) if isinstance(v, list))
    thought = ', '.join(f'{e} {scores.get(f"thought {e}", 0):.0f}' for e in ('low', 'medium', 'high'))
    speed = speed_of(folder)
    lines = sum(len(v) for i in intents.ALL for v in i.lines.values())
    print(f"""# The starter model

`starter.gguf` is a very small language model of the gpt-oss architecture that ships with Hearth, so that a new user can chat within a
minute of the first start, with no download, and so that every part of the engine meets a trained model. It is meant to guide
through the app, do small sums, tell short stories, rewrite short texts, call functions, and say where its knowledge ends; how well it does so is
measured below.

| | |
|---|---|
| file | `starter.gguf`, {len(blob):,} bytes |
| SHA-256 | `{hashlib.sha256(blob).hexdigest()}` |
| licence | Apache-2.0 (weights, text and code; all made by the Hearth project) |
| architecture | `gpt-oss`: {c.layers} layers, hidden {c.hidden}, {c.heads} heads of {c.head_dim} with {c.kv_heads} KV heads, sinks, even layers with a window of {c.window}, YaRN (factor {c.yarn_factor:g} over {c.original_context}, untruncated), {c.experts} experts of width {c.ffn} with top-{c.top_k}, SwiGLU limit {c.swiglu_limit:g}, untied output |
| parameters | {total / 1e6:.2f} million, about {at_work / 1e6:.1f} million at work per token |
| stored as | experts MXFP4, matrices Q8_0, norms, biases, router and sinks F32 |
| vocabulary | {c.vocab:,} tokens: 256 bytes, {len(tok.merges):,} merges learned from the training text, 24 control tokens of harmony; digits stay single |
| context | {c.context:,} declared; trained on chats of up to 900 tokens, so longer ones are outside its practice |

## Training

- **Text**: written by the project as intents and generators (`train/data/`): {len(intents.ALL)} intents in English and Chinese ({lines:,} lines of questions, phrases and
  answers, put into frames), sums and word problems with their working, stories and poems, rewriting and summing up, function calls with
  results, refusals, follow-ups, developer instructions. No other text, no other model's output. Thoughts in `analysis` at three levels of effort.
- **Run**: seed {ck['seed']}, {ck['step']:,} steps, {ck['tokens'] / 1e6:.1f} million tokens (padding included), Muon and AdamW in float32 on {processor()}; experts
  rounded to MXFP4 in the forward pass in the second part. Conversations that share five words in a row (eight Chinese characters) with the held-out questions are kept out.
{remarks(folder)}- The last loss on conversations from templates that training never uses: {next((r['held_out'] for r in reversed(rows) if 'held_out' in r), 'not measured')}.

![training loss](loss.svg)

## Measured on the file

- Weights as stored against the same weights in bfloat16: mean KL {cost.get('kl', float('nan')):.4f} per token, 99 % below {cost.get('kl99', float('nan')):.3f}, same first choice {100 * cost.get('same', float('nan')):.1f} % ({cost.get('tokens', 0):,} tokens of unseen templates).
- {text_of(folder, 'export.txt')}.
- As a Hugging Face folder (`train/export_hf.py`): {text_of(folder, 'hf.txt').replace(chr(10), '; ')}.
- {speed}
- Median characters of thought: {thought}.

Templates that training never uses, greedy:

| kind and language | right |
|---|---|
{kinds}

Held-out questions ([rules](heldout/README.md)), asked over the API at medium effort, temperature 0:

```
{text_of(folder, 'score.txt').split(chr(10) * 2)[0]}
```

Plain questions, effort low, temperature 0:

| question | answer |
|---|---|
{table}

## Limits

It knows nothing of the world, writes no code and no long texts, and can be wrong where it sounds sure. Sums beyond two digits, long chats and free rewriting are
beyond it. Never rely on what it says. For work choose gpt-oss-20b in Models.

## Remaking it

See `train/README.md`.""")


if __name__ == '__main__':
    main()
