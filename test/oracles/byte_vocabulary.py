"""A vocabulary without merges for fixtures: 256 bytes in GPT-2's printable spelling, then 32 control tokens."""
import json

CONTROL = ["<|startoftext|>", "<|endoftext|>", "<|return|>", "<|constrain|>", "<|channel|>", "<|start|>", "<|end|>",
           "<|message|>", "<|call|>"]
CONTROL += ["<|reserved_%d|>" % i for i in range(32 - len(CONTROL))]


def byte_spellings():
    printable = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    spelled = {b: chr(b) for b in printable}
    for b in range(256):
        if b not in spelled:
            spelled[b] = chr(256 + len(spelled) - len(printable))
    return [spelled[b] for b in range(256)]


TOKENS = byte_spellings() + CONTROL
END = TOKENS.index("<|return|>")


def write_metadata(gguf):
    gguf.string("tokenizer.ggml.model", "gpt2")
    gguf.string("tokenizer.ggml.pre", "gpt-4o")
    gguf.strings("tokenizer.ggml.tokens", TOKENS)
    gguf.i32s("tokenizer.ggml.token_type", [1] * 256 + [3] * 32)
    gguf.strings("tokenizer.ggml.merges", [])
    gguf.u32("tokenizer.ggml.bos_token_id", 256)
    gguf.u32("tokenizer.ggml.eos_token_id", END)
    gguf.boolean("tokenizer.ggml.add_bos_token", False)


def write_tokenizer_json(path):
    added = [{"id": 256 + i, "content": text, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": True} for i, text in enumerate(CONTROL)]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    document = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
                "pre_tokenizer": level, "post_processor": None, "decoder": level,
                "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                          "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                          "vocab": {text: i for i, text in enumerate(TOKENS[:256])}, "merges": []}}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file, ensure_ascii=False, indent=0)
