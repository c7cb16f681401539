"""Oracle for chat templates: Python's Jinja (as transformers sets it up) and Hugging Face's Rust tokenizers.

usage: template_jinja.py FOLDER CHATS_JSON > RESULTS_JSON
FOLDER is what tokenizer_smollm2.py wrote. A chat is a list of {role, content}. Needs jinja2 and tokenizers.
"""
import json, os, sys

from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer

folder, chats = sys.argv[1], json.load(open(sys.argv[2], encoding="utf-8"))
source = json.load(open(os.path.join(folder, "source.json"), encoding="utf-8"))
tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
tokenizer.add_special_tokens([t for t, kind in zip(source["tokens"], source["types"]) if kind == 3])
environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
template = environment.from_string(source["chatTemplate"])
results = []
for messages in chats:
    text = template.render(messages=messages, add_generation_prompt=True)
    results.append({"text": text, "ids": tokenizer.encode(text, add_special_tokens=False).ids})
json.dump(results, sys.stdout)
