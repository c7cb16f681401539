"""The text format of expected logits: `# how made`, `tokens N t...`, and for each length `logits N v...`."""
LENGTHS = (1, 7, 40, 200, 600)


def write_expected(path, how, tokens, rows):
    """rows: length -> logits after the last of the first `length` tokens."""
    with open(path, "w", encoding="ascii") as file:
        file.write("# %s\n" % how)
        file.write("tokens %d %s\n" % (len(tokens), " ".join(map(str, tokens))))
        for length, logits in rows.items():
            file.write("logits %d %s\n" % (length, " ".join("%.9g" % float(v) for v in logits)))
