"""Put the held-out questions to a Hearth that runs, and write its answers for ../heldout/score.py.
Owns: the requests. Refuses: showing questions or answers, judging them.
Usage: python ask.py QUESTIONS.jsonl ANSWERS.jsonl [--url http://127.0.0.1:4327/v1] [--model starter] [--effort medium]"""
from __future__ import annotations

import argparse
import json
import urllib.request


def ask(url: str, body: dict) -> dict:
    request = urllib.request.Request(url + '/chat/completions', json.dumps(body).encode(), {'content-type': 'application/json', 'authorization': 'Bearer hearth'})
    with urllib.request.urlopen(request, timeout=120) as reply:
        return json.load(reply)['choices'][0]['message']


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument('questions')
    ap.add_argument('answers')
    ap.add_argument('--url', default='http://127.0.0.1:4327/v1')
    ap.add_argument('--model', default='starter')
    ap.add_argument('--effort', default='medium')
    a = ap.parse_args()
    done = 0
    with open(a.questions, encoding='utf-8') as lines, open(a.answers, 'w', encoding='utf-8') as out:
        for line in lines:
            q = json.loads(line)
            body = dict(model=a.model, messages=q['messages'], temperature=0, max_tokens=600, reasoning_effort=a.effort)
            if q.get('tools'):
                body['tools'] = q['tools']
            got = ask(a.url, body)
            row = dict(id=q['id'], text=got.get('content') or '')
            if got.get('tool_calls'):
                row['tool_calls'] = got['tool_calls']
            out.write(json.dumps(row, ensure_ascii=False) + '\n')
            done += 1
    print(f'{done} questions answered')


if __name__ == '__main__':
    main()
