"""Oracle for SmolLM2's tokenizer: the vocabulary and merges of a GGUF file in Hugging Face's Rust tokenizers.

usage: tokenizer_smollm2.py MODEL_GGUF OUT_FOLDER [TEXT_FILE...]
Writes OUT_FOLDER/tokenizer.json (digits alone, then the GPT-2 pattern) and OUT_FOLDER/source.json (the metadata as read from
the file), and beside each text file its ids as little-endian int32 in TEXT_FILE.smollm2. Needs tokenizers.
"""
import json, os, struct, sys

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


def read_metadata(path):
    with open(path, "rb") as f:

        def take(format):
            return struct.unpack("<" + format, f.read(struct.calcsize("<" + format)))[0]

        def string():
            return f.read(take("Q")).decode("utf-8", "surrogateescape")

        def value(kind):
            if kind == 8:
                return string()
            if kind == 9:
                item, count = take("I"), take("Q")
                return [value(item) for _ in range(count)]
            return take(SCALARS[kind])

        assert f.read(4) == b"GGUF" and take("I") in (2, 3)
        _tensors, count = take("Q"), take("Q")
        return {string(): value(take("I")) for _ in range(count)}


def main():
    path, folder, texts = sys.argv[1], sys.argv[2], sys.argv[3:]
    meta = read_metadata(path)
    get = lambda name, default=None: meta.get("tokenizer.ggml." + name, default)
    tokens, merges, types = get("tokens"), get("merges"), get("token_type")
    source = {
        "model": get("model"),
        "pre": get("pre"),
        "tokens": tokens,
        "merges": merges,
        "types": types,
        "bos": get("bos_token_id", -1),
        "eos": get("eos_token_id", -1),
        "unknown": get("unknown_token_id", -1),
        "padding": get("padding_token_id", -1),
        "addBos": get("add_bos_token", False),
        "addSpacePrefix": get("add_space_prefix", False),
        "chatTemplate": meta.get("tokenizer.chat_template", ""),
    }
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocab = {t: i for i, t in enumerate(tokens)}
    rust = Tokenizer(models.BPE(vocab=vocab, merges=[tuple(m.split(" ", 1)) for m in merges]))
    digits = pre_tokenizers.Digits(individual_digits=True)
    rust.pre_tokenizer = pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    os.makedirs(folder, exist_ok=True)
    rust.save(os.path.join(folder, "tokenizer.json"))
    with open(os.path.join(folder, "source.json"), "w", encoding="utf-8") as f:
        json.dump(source, f)
    for text in texts:
        ids = rust.encode(open(text, encoding="utf-8", newline="").read(), add_special_tokens=False).ids
        with open(text + ".smollm2", "wb") as f:
            f.write(struct.pack(f"<{len(ids)}i", *ids))
    print(json.dumps({"tokens": len(tokens), "merges": len(merges), "pre": source["pre"], "texts": len(texts)}))


main()
