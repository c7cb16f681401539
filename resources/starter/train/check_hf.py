"""Whether the Hugging Face folder says what the file says: transformers' GptOss and the tokenizers library against the numpy forward and our own BPE.
Owns: the comparison, and (--out) the expected logits for native/test/logits_oracle_test.cpp. Refuses: making the folder (export_hf.py).
Needs transformers, as test/oracles/requirements.txt has it. Usage: python check_hf.py MODEL.gguf FOLDER [--out EXPECTED.txt]"""
from __future__ import annotations

import argparse
import os
import sys

import numpy as np
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer as Fast
from transformers import GptOssConfig, GptOssForCausalLM

from data.conversations import conversation
from data.draw import Draw
from gguf_numpy import Engine
from harmony import Special, render
from tokenizer import Tokenizer, byte_chars

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../../test/oracles'))
from expected import LENGTHS, write_expected  # noqa: E402

NEAR = 1e-3


def own_tokenizer(meta: dict) -> Tokenizer:
    """Our BPE with the file's merges."""
    value = {c: bytes([b]) for b, c in enumerate(byte_chars())}
    spelled = lambda s: b''.join(value[c] for c in s)
    return Tokenizer([tuple(spelled(x) for x in m.split(' ')) for m in meta['tokenizer.ggml.merges']])


def text_of(tok: Tokenizer, n: int) -> list[int]:
    """The first n tokens of conversations that training does not know."""
    d, ids = Draw(5, held=True), []
    while len(ids) < n:
        ids += tok.pieces(render(conversation(d)))[0]
    return ids[:n]


def same_tokens(tok: Tokenizer, folder: str, n: int = 150) -> int:
    fast, d, seen = Fast.from_file(os.path.join(folder, 'tokenizer.json')), Draw(6, held=True), 0
    for _ in range(n):
        for text, _w in render(conversation(d)):
            got = [fast.token_to_id(text)] if isinstance(text, Special) else fast.encode(text, add_special_tokens=False).ids
            if got != tok.pieces([(text, 0)])[0]:
                raise SystemExit(f'other tokens for {text!r}')
            seen += 1
    return seen


def unpacked(blocks: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """[experts, rows, groups, 16] -> [experts, in, out], as transformers keeps experts that are not packed."""
    grid = torch.tensor([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6])
    pairs = grid[torch.stack([blocks & 15, blocks >> 4], -1).long()].flatten(-2)
    return (pairs * torch.exp2(scales.float() - 127)[..., None]).flatten(-2).transpose(1, 2).contiguous()


def by_transformers(folder: str) -> GptOssForCausalLM:
    """Its own loader unpacks MXFP4 only beside further libraries, so the experts are unpacked here."""
    config = GptOssConfig.from_pretrained(folder, attn_implementation='eager')
    del config.quantization_config
    w = load_file(os.path.join(folder, 'model.safetensors'))
    for name in [n.removesuffix('_blocks') for n in w if n.endswith('_blocks')]:
        w[name] = unpacked(w.pop(name + '_blocks'), w.pop(name + '_scales'))
    model = GptOssForCausalLM(config).float().eval()
    model.load_state_dict(w, strict=True)
    return model


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument('model')
    ap.add_argument('folder')
    ap.add_argument('--out')
    a = ap.parse_args()
    torch.set_num_threads(1)
    engine = Engine(a.model)
    tok = own_tokenizer(engine.meta)
    print(f'tokens: the same for {same_tokens(tok, a.folder)} pieces of text')
    model = by_transformers(a.folder)
    ids, rows, worst = text_of(tok, max(LENGTHS)), {}, 0.0
    for n, token in enumerate(ids, 1):
        own = engine.step(token)
        if n in LENGTHS:
            with torch.no_grad():
                rows[n] = model(torch.tensor([ids[:n]]), use_cache=False).logits[0, -1].numpy()
            worst = max(worst, float(np.abs(rows[n] - own).max()))
    print(f'logits: transformers and the numpy forward differ by at most {worst:.2g} at lengths {", ".join(map(str, LENGTHS))}')
    if not worst <= NEAR:
        raise SystemExit('that is too much')
    if a.out:
        os.makedirs(os.path.dirname(a.out), exist_ok=True)
        write_expected(a.out, 'transformers GptOssForCausalLM on the folder that export_hf.py makes of starter.gguf, float32, eager attention; by check_hf.py', ids, rows)


if __name__ == '__main__':
    main()
