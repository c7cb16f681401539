"""Oracle for the tokenizers of the model families: vocabularies learnt here, ids by Hugging Face's Rust tokenizers.

usage: tokenizer_families.py OUT_FOLDER TEXT_FILE...
Writes for each family OUT_FOLDER/FAMILY.json (tokenizer.json as published models of the family have it) and
OUT_FOLDER/FAMILY.source.json (the same as GGUF metadata), and beside each text file its ids as little-endian int32 in
TEXT_FILE.FAMILY. The byte-level families differ in pattern, normalizer and ignore_merges; the SentencePiece ones in how
spaces are marked. Scores and merges of these follow each other as in published conversions: every way to cut a token in
two is a merge, ordered by the token's score. Control tokens are added after the ids were made: in plain text their names
are text. Needs tokenizers.
"""
import json, os, struct, sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

END = r"\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
LLAMA = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*|" + END
TEKKEN = (r"[^\r\n\p{L}\p{N}]?" + UPPER + "*" + LOWER + r"+|[^\r\n\p{L}\p{N}]?" + UPPER + "+" + LOWER + r"*|\p{N}"
          r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + END)
BYTE_LEVEL = {"qwen2": (LLAMA % "", False, normalizers.NFC()), "llama-bpe": (LLAMA % "{1,3}", True, None),
              "tekken": (TEKKEN, True, None)}
SPECIAL = ["<unk>", "<s>", "</s>"]
MARK = "\u2581"


def byte_level(name, sample):
    pattern, ignore_merges, normalizer = BYTE_LEVEL[name]
    rust = Tokenizer(models.BPE())
    if normalizer:
        rust.normalizer = normalizer
    rust.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"),
                                                  pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    rust.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    rust.train_from_iterator(sample, trainers.BpeTrainer(vocab_size=3000, initial_alphabet=alphabet, show_progress=False))
    document = json.loads(rust.to_str())
    document["model"]["ignore_merges"] = ignore_merges
    vocab = document["model"]["vocab"]
    tokens = sorted(vocab, key=vocab.get) + ["<|end|>"]
    merges = [m if isinstance(m, str) else " ".join(m) for m in document["model"]["merges"]]
    source = {"model": "gpt2", "pre": name, "tokens": tokens, "merges": merges, "types": [1] * (len(tokens) - 1) + [3],
              "eos": len(tokens) - 1}
    return Tokenizer.from_str(json.dumps(document)), source, ["<|end|>"]


def learn_pieces(sample):
    """Pieces in the order in which merging made them, single characters last, as SentencePiece writes them."""
    rust = Tokenizer(models.BPE(unk_token="<unk>"))
    rust.pre_tokenizer = pre_tokenizers.Metaspace(replacement=MARK, prepend_scheme="always", split=True)
    rust.train_from_iterator(sample, trainers.BpeTrainer(vocab_size=2500, special_tokens=["<unk>"], limit_alphabet=400,
                                                         show_progress=False))
    vocab = rust.get_vocab()
    pieces = sorted((t for t in vocab if t != "<unk>"), key=vocab.get)
    return [t for t in pieces if len(t) > 1] + [t for t in pieces if len(t) == 1]


def sentence_piece(name, pieces):
    tokens = SPECIAL + ["<0x%02X>" % b for b in range(256)] + pieces
    ids = {t: i for i, t in enumerate(tokens)}
    learnt = set(pieces)
    merges = [(t[:i], t[i:]) for t in pieces for i in range(1, len(t)) if t[:i] in learnt and t[i:] in learnt]
    rust = Tokenizer(models.BPE(vocab=ids, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    replace = normalizers.Replace(" ", MARK)
    if name == "spm":
        rust.normalizer = normalizers.Sequence([normalizers.Prepend(MARK), replace])
    else:  # gemma: no space in front, and a cut that never finds anything
        rust.normalizer = replace
        rust.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    source = {"model": "llama", "pre": "default", "tokens": tokens, "types": [2, 3, 3] + [6] * 256 + [1] * len(pieces),
              "scores": [0.0] * 259 + [-float(i) for i in range(len(pieces))], "bos": 1, "eos": 2, "unknown": 0,
              "addSpacePrefix": name == "spm"}
    return rust, source, SPECIAL


def main():
    folder, paths = sys.argv[1], sys.argv[2:]
    os.makedirs(folder, exist_ok=True)
    texts = {p: open(p, encoding="utf-8", newline="").read() for p in paths}
    sample = [line for text in texts.values() for line in text[:150_000].splitlines(keepends=True)]
    made = {name: byte_level(name, sample) for name in BYTE_LEVEL}
    pieces = learn_pieces(sample)
    made.update({name: sentence_piece(name, pieces) for name in ("spm", "gemma")})
    for name, (rust, source, special) in made.items():
        with open(os.path.join(folder, name + ".source.json"), "w", encoding="utf-8") as f:
            json.dump(source, f)
        for path, text in texts.items():
            ids = rust.encode(text, add_special_tokens=False).ids
            with open(path + "." + name, "wb") as f:
                f.write(struct.pack("<%di" % len(ids), *ids))
        rust.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in special])
        rust.save(os.path.join(folder, name + ".json"))
    print(json.dumps({name: len(source["tokens"]) for name, (_, source, _) in made.items()}))


main()
