"""Oracle for the o200k vocabulary: PyPI's tiktoken on ranks rebuilt from a tokenizer.json.

usage: tokenizer_o200k.py TOKENIZER_JSON RANKS_DIR [TEXT_FILE...]
Writes RANKS_DIR/o200k_base.tiktoken (checked against the published hash) and, beside each text file, its ids as
little-endian int32 in TEXT_FILE.ids. Needs tiktoken. Nothing of this is ever committed.
"""
import base64, hashlib, json, os, struct, sys

SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
URL = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"


def byte_alphabet():
    printable = list(range(0x21, 0x7F)) + list(range(0xA1, 0xAD)) + list(range(0xAE, 0x100))
    codes, extra = {}, 0
    for b in range(256):
        if b in printable:
            codes[chr(b)] = b
        else:
            codes[chr(256 + extra)] = b
            extra += 1
    return codes


def rebuild(tokenizer_json, folder):
    path = os.path.join(folder, "o200k_base.tiktoken")
    if not os.path.exists(path):
        alphabet = byte_alphabet()
        vocab = json.load(open(tokenizer_json, encoding="utf-8"))["model"]["vocab"]
        rows = sorted((rank, bytes(alphabet[c] for c in token)) for token, rank in vocab.items())
        data = b"".join(base64.b64encode(t) + b" " + str(r).encode() + b"\n" for r, t in rows)
        digest = hashlib.sha256(data).hexdigest()
        if digest != SHA256:
            sys.exit(f"the rebuilt ranks have sha256 {digest}, not {SHA256}")
        os.makedirs(folder, exist_ok=True)
        with open(path, "wb") as f:
            f.write(data)
    # tiktoken looks its files up by the hash of their address
    cached = os.path.join(folder, hashlib.sha1(URL.encode()).hexdigest())
    if not os.path.exists(cached):
        os.link(path, cached)


def main():
    tokenizer_json, folder, texts = sys.argv[1], sys.argv[2], sys.argv[3:]
    rebuild(tokenizer_json, folder)
    os.environ["TIKTOKEN_CACHE_DIR"] = folder
    import tiktoken

    encoding = tiktoken.get_encoding("o200k_base")
    for path in texts:
        text = open(path, encoding="utf-8", newline="").read()
        ids = encoding.encode_ordinary(text)
        with open(path + ".ids", "wb") as f:
            f.write(struct.pack(f"<{len(ids)}i", *ids))
    print(json.dumps({"sha256": SHA256, "vocabulary": encoding.n_vocab, "texts": len(texts)}))


main()
