#!/usr/bin/env python3
"""Scores a model's answers to the held-out questions.

    python3 score.py answers.jsonl [--json]     right/total per category and language, then the wrong ones
    python3 score.py --eye answers.jsonl        fifty answers to read, always the same ones
    python3 score.py --check                    the questions themselves: shape, ids, counts, repeated wording
    python3 score.py --overlap FILE...          5-grams that training text shares with the questions
    python3 score.py --self-test                the rules below, on answers whose verdict is known

An answers line is {"id", "text", "reasoning"?, "tool_calls"?}. Only "text" and "tool_calls" are judged. README.md explains the rules.
"""
import collections
import json
import pathlib
import random
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
CATEGORIES = ("hearth", "smalltalk", "arithmetic", "story", "rewrite", "summary", "tool", "refusal")
CHECK_KEYS = {"any", "none", "number", "tool", "no_tool", "ends", "min_words", "max_words", "refusal"}

# ---- words

HAN = r"[\u3400-\u9fff]"


def plain(text):
    """Lower case, straight quotes, no emphasis marks, ordinary spaces."""
    text = text.translate({0x2018: "'", 0x2019: "'", 0x201c: '"', 0x201d: '"', 0xa0: " ", 0x202f: " ", 0x2011: "-", 0x2212: "-"})
    return text.replace("**", "").lower()


def count_words(text):
    """Words of a Latin text, plus one for each Chinese character."""
    return len(re.findall(HAN, text)) + len(re.findall(r"[A-Za-z0-9][A-Za-z0-9'’.,:-]*", text))


def has_keyword(text, keyword):
    """Chinese: anywhere. Latin: as a whole word, or as the beginning of one when the keyword ends in `*`."""
    keyword, text = plain(keyword), plain(text)
    prefix = len(keyword) > 1 and keyword.endswith("*")
    keyword = keyword[:-1] if prefix else keyword
    before = r"(?<![a-z0-9])" if re.match(r"[a-z0-9]", keyword) else ""
    after = r"(?![a-z0-9])" if re.search(r"[a-z0-9]$", keyword) and not prefix else ""
    return re.search(before + re.escape(keyword) + after, text) is not None


# ---- numbers

SMALL = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
DIGIT = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}


def english_number(words):
    total = 0
    for word in re.split(r"[\s-]+", words):
        if word in SMALL:
            total += SMALL.index(word)
        elif word in TENS:
            total += 10 * (TENS.index(word) + 2)
        elif word == "hundred":
            total = max(total, 1) * 100
    return float(total)


def chinese_number(text):
    total, digit = 0, 0
    for c in text:
        if c in DIGIT:
            digit = DIGIT[c]
        else:
            total, digit = total + (digit or 1) * {"十": 10, "百": 100}[c], 0
    return float(total + digit)


def numbers(text):
    """Every number in the text in order: digits, or, when there are none, number words."""
    found = re.findall(r"(?:(?<![a-z0-9)）])-)?(?<![a-z0-9.])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?", text)
    if found:
        return [float(x.replace(",", "")) for x in found]
    names = "|".join(TENS + SMALL[::-1])
    found = re.findall(r"\b(?:%s)(?:[ -](?:hundred|and|%s))*\b" % (names, names), text)
    if found:
        return [english_number(x) for x in found]
    return [chinese_number(x) for x in re.findall(r"[零〇一二两三四五六七八九十百]+", text)]


def says_number(text, wanted):
    """The result is the last number said, the one after the last `=`, or the one after the last 'the answer is'."""
    text = plain(text)
    said = numbers(text)
    candidates = said[-1:]
    for mark in (r".*(?:=|≈)", r".*(?:answer is|answer:|answer：|equals|答案是|答案：|答案为|等于|一共有?|得)"):
        found = re.match(mark, text, re.S)
        rest = numbers(text[found.end():]) if found else []
        candidates += rest[:1]
    return wanted in candidates


# ---- refusals

LIMITS = [re.compile(x) for x in (
    r"\bi(?: really| still| just| also| simply|, sadly,| honestly)* (?:can't|cannot|can not|couldn't|don't know|do not know|don't have|do not have|won't be able|am not|am unable|am too)",
    r"\bi\b[^.!?]{0,40}\b(?:can't|cannot|can not|unable|not able|don't know)\b",
    r"\bi'm (?:not|unable|too|only|just a|afraid)",
    r"\btoo (?:small|little|tiny)\b", r"\btoo (?:hard|big|difficult|much|long|deep|complex) (?:for|a)\b", r"\b(?:beyond|above|more than) (?:me|what i|my)\b",
    r"\bi(?: would| might|'d)(?: only| just| likely| probably)* (?:guess|get|make|be wrong)", r"\bnot something i\b", r"\bout of my\b",
    r"太小", r"太难", r"太大", r"太长", r"超出", r"能力有限", r"[做办答写画算看译翻帮讲查干解说]不[到了来好出清动]", r"我.{0,14}(?:不能|无法|不会|不懂|不知道|不清楚|不擅长|没办法|没法|没有能力|答不|只是)", r"(?:抱歉|对不起).{0,20}(?:不能|无法|不会|没办法|没法)")]
POINTERS = ["models", "gpt-oss*", "bigger model*", "larger model*", "20b", "120b", "模型", "更大"]


def admits_limit(text):
    return any(x.search(plain(text)) for x in LIMITS)


def is_fitting_refusal(text):
    """Says that it is too small for this and where to go instead, in few words."""
    return admits_limit(text) and any(has_keyword(text, x) for x in POINTERS) and count_words(text) <= 130


# ---- calls

def normal_call(call):
    """{name, arguments} of an OpenAI call or of a bare one; None when the arguments are not a JSON object."""
    call = call.get("function", call)
    arguments = call.get("arguments")
    try:
        arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return None
    return {"name": call.get("name"), "arguments": arguments} if isinstance(arguments, dict) else None


def same_value(got, wanted, exact):
    if isinstance(got, bool) or isinstance(wanted, bool):
        return got is wanted
    if isinstance(wanted, (int, float)):
        return isinstance(got, (int, float)) and got == wanted
    if isinstance(wanted, list):
        return isinstance(got, list) and len(got) == len(wanted) and all(same_value(a, b, exact) for a, b in zip(got, wanted))
    if isinstance(wanted, str) and isinstance(got, str) and not exact:
        return got.strip().casefold() == wanted.strip().casefold()
    return type(got) is type(wanted) and got == wanted


def right_call(question, calls):
    wanted = question["check"]["tool"]
    if len(calls) != 1:
        return "%d calls, not 1" % len(calls)
    call = normal_call(calls[0])
    if call is None:
        return "arguments are no JSON object"
    if call["name"] != wanted["name"]:
        return "called %s" % call["name"]
    properties = {t["function"]["name"]: t["function"]["parameters"]["properties"] for t in question["tools"]}[wanted["name"]]
    got = call["arguments"]
    for arguments in [wanted["arguments"]] + wanted.get("or", []):
        if got.keys() == arguments.keys() and all(same_value(got[k], v, "enum" in properties[k]) for k, v in arguments.items()):
            return None
    return "arguments %s" % json.dumps(got, ensure_ascii=False)


# ---- one answer

def wrong_language(question, text):
    if "number" in question["check"] or not text.strip():
        return False
    chinese = len(re.findall(HAN, text))
    latin = re.findall(r"[A-Za-z]{2,}", re.sub(r"https?:\S+|`[^`]*`", "", text))
    return chinese == 0 and len(latin) > 2 if question["lang"] == "zh" else chinese > 0.2 * len(text)


def repeats_itself(text):
    sentences = [s.strip().lower() for s in re.split(r"[.!?。！？\n]+", text) if count_words(s) >= 3]
    return any(n > 2 for n in collections.Counter(sentences).values())


def fault(question, answer):
    """None when the answer is right, else what is wrong with it."""
    check, text = question["check"], answer.get("text") or ""
    calls = answer.get("tool_calls") or []
    if "tool" in check:
        return right_call(question, calls)
    if calls:
        return "called a function"
    if not text.strip():
        return "empty"
    if "<|" in text:
        return "control tokens in the text"
    if wrong_language(question, text):
        return "wrong language"
    for alternatives in check.get("any", []):
        if not any(has_keyword(text, x) for x in alternatives):
            return "none of: " + ", ".join(alternatives)
    for keyword in check.get("none", []):
        if plain(keyword) in plain(text):
            return "contains %r" % keyword
    if "number" in check and not says_number(text, check["number"]):
        return "not %s" % check["number"]
    if check.get("refusal") and not admits_limit(text):
        return "does not say that it cannot"
    if check.get("refusal") and count_words(text) > 130:
        return "too long for a refusal"
    if check.get("ends") and not re.search(r"[.!?。！？…][\"'”’」』)）*]*$", text.strip()):
        return "does not end"
    if count_words(text) < check.get("min_words", 0):
        return "%d words, fewer than %d" % (count_words(text), check["min_words"])
    if count_words(text) > check.get("max_words", 1e9):
        return "%d words, more than %d" % (count_words(text), check["max_words"])
    if question["category"] == "story" and repeats_itself(text):
        return "says one sentence three times"
    return None


def judge(question, answer):
    """(right, how): how is 'right', 'refused' (where that counts) or the fault."""
    if answer is None:
        return False, "no answer"
    wrong = fault(question, answer)
    if wrong is None:
        return True, "right"
    text = answer.get("text") or ""
    if question.get("accept_refusal") and not answer.get("tool_calls") and not wrong_language(question, text) and is_fitting_refusal(text):
        return True, "refused"
    return False, wrong


# ---- files

NAMES = {"hearth", "gpt-oss", "gpt-oss-20b", "gpt-oss-120b", "20b", "120b", "gguf", "openai", "127.0.0.1", "4327"}


def read_lines(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text("utf-8").splitlines() if line.strip()]


def said(question):
    """What the user says, and the answers that stand before the last question."""
    yield from (m["content"] for m in question["messages"] if m["role"] in ("user", "assistant") and m["content"])


def described(question):
    """What the functions on offer say of themselves."""
    for function in (t["function"] for t in question.get("tools", [])):
        yield function["description"]
        yield from (p["description"] for p in function["parameters"]["properties"].values())


def grams(text, n, han=None):
    """Runs of n words; of Chinese, runs of `han` characters (about 1.6 to a word). Punctuation parts nothing."""
    tokens = re.findall(HAN + r"|[a-z0-9]+(?:['.-][a-z0-9]+)*", plain(text))
    for i in range(len(tokens)):
        for size in {n, han or n}:
            run = tokens[i:i + size]
            is_han = any(re.match(HAN, t) for t in run)
            if len(run) == size and size == ((han or n) if is_han else n):
                yield " ".join(run)


def question_grams(questions):
    """All that training text must not contain; runs of nothing but names and numbers may occur."""
    runs = {g for q in questions for text in (*said(q), *described(q)) for g in grams(text, 5, 8)}
    return {g for g in runs if not all(x in NAMES or re.fullmatch(r"[\d.]+", x) for x in g.split())}


def overlap(paths, questions):
    wanted, shared = question_grams(questions), collections.Counter()
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                shared.update(g for g in grams(line, 5, 8) if g in wanted)
    return shared


def check_questions(questions):
    faults, seen = [], {}
    for number, q in enumerate(questions, 1):
        where = "line %d (%s)" % (number, q.get("id"))
        if q["category"] not in CATEGORIES or q["lang"] not in ("en", "zh"):
            faults.append(where + ": category or language")
        if not q["check"] or set(q["check"]) - CHECK_KEYS:
            faults.append(where + ": unknown or empty check")
        if q["messages"][-1]["role"] == "assistant" or ("tool" in q["check"] and not q.get("tools")):
            faults.append(where + ": messages or tools")
        for gram in {g for text in said(q) for g in grams(text, 8)}:
            if seen.setdefault(gram, q["id"]) != q["id"]:
                faults.append("%s shares %r with %s" % (where, gram, seen[gram]))
    faults += ["id %s twice" % i for i, n in collections.Counter(q["id"] for q in questions).items() if n > 1]
    kinds = collections.defaultdict(set)
    for q in questions:
        kinds[q["category"], q["intent"]].add(bool(q.get("unseen")))
    unusual = sum(v == {True} for v in kinds.values())
    faults += ["intent %s both usual and unseen" % (k,) for k, v in kinds.items() if len(v) > 1]
    if unusual < 0.2 * len(kinds):
        faults.append("only %d of %d intents unseen" % (unusual, len(kinds)))
    table = collections.Counter((q["category"], q["lang"]) for q in questions)
    for category in CATEGORIES:
        print("%-11s en %3d  zh %3d" % (category, table[category, "en"], table[category, "zh"]))
    print("%d questions, %d intents, %d of them unseen (%d questions)" % (len(questions), len(kinds), unusual, sum(bool(q.get("unseen")) for q in questions)))
    return faults


def report(questions, answers, as_json):
    by_id, rows, wrong = {a["id"]: a for a in answers}, collections.defaultdict(lambda: [0, 0, 0]), []
    for q in questions:
        right, how = judge(q, by_id.get(q["id"]))
        for key in ((q["category"], q["lang"]), (q["category"], "all"), ("all", q["lang"]), ("all", "all"), ("unseen" if q.get("unseen") else "usual", "all")):
            rows[key][0] += right
            rows[key][1] += 1
            rows[key][2] += how == "refused"
        if not right:
            wrong.append({"id": q["id"], "why": how, "question": q["messages"][-1]["content"], "answer": (by_id.get(q["id"]) or {}).get("text", "")})
    if as_json:
        print(json.dumps({"scores": {"%s/%s" % k: {"right": r, "total": t, "refused": f} for k, (r, t, f) in rows.items()}, "wrong": wrong}, ensure_ascii=False, indent=1))
        return
    for category in CATEGORIES + ("all", "usual", "unseen"):
        for lang in ("en", "zh", "all"):
            if (category, lang) in rows:
                r, t, f = rows[category, lang]
                print("%-11s %-4s %3d/%3d %6.1f %%%s" % (category, lang, r, t, 100 * r / t, "  (%d by refusal)" % f if f else ""))
    for w in wrong:
        print("\n%(id)s: %(why)s\n  Q %(question)s\n  A %(answer)s" % w)


def show_for_reading(questions, answers):
    by_id = {a["id"]: a for a in answers}
    for q in sorted(random.Random(6).sample(questions, 50), key=lambda q: q["id"]):
        answer = by_id.get(q["id"]) or {}
        print("%s  [%s]\n  Q %s\n  A %s %s\n" % (q["id"], judge(q, by_id.get(q["id"]))[1], q["messages"][-1]["content"], answer.get("text", ""), answer.get("tool_calls") or ""))


# ---- self-test

def self_test():
    tool = {"type": "function", "function": {"name": "lamp", "parameters": {"properties": {"room": {"type": "string", "enum": ["hall"]}, "on": {"type": "boolean"}, "note": {"type": "string"}}}}}

    def q(category="hearth", lang="en", accept=False, **check):
        return {"id": "x", "lang": lang, "category": category, "accept_refusal": accept, "tools": [tool], "messages": [{"role": "user", "content": "?"}], "check": check}

    call = q("tool", tool={"name": "lamp", "arguments": {"room": "hall", "on": True, "note": "Bern"}})
    lamp = lambda a: {"tool_calls": [{"function": {"name": "lamp", "arguments": a}}]}
    story = "Once a fox met a snail. They walked slowly to the pond."
    cases = [
        (q(any=[["stop*"], ["button", "esc"]]), "Press the Stop button.", True), (q(any=[["stop*"], ["button"]]), "Just stop.", False),
        (q(any=[["no"]]), "I know nothing.", False), (q(any=[["regenerat*"]]), "It **regenerates** it.", True), (q(any=[["* "]]), "* one", True),
        (q(any=[["can't"]]), "It can’t.", True), (q(any=[["显存"]], lang="zh"), "看显存够不够", True), (q(any=[["GPU"]], lang="zh"), "用GPU来算，很快", True),
        (q(any=[["models"]], lang="zh"), "Open Models and choose one.", False), (q(any=[["4327*"]], lang="zh"), "http://127.0.0.1:4327/v1", True), (q(any=[["models"]]), "打开模型页 models 就可以了呀", False), (q(any=[["ok"]], none=["bad"]), "ok but bad", False),
        (q("arithmetic", number=56), "7 x 8 = 56", True), (q("arithmetic", number=56), "7 x 8 = 54", False), (q("arithmetic", number=7), "7 x 8 = 56.", False),
        (q("arithmetic", number=24), "6 x 4 = 24. She has 24 pens in 6 boxes.", True), (q("arithmetic", number=24), "24 and 25 are near, I say 26.", False),
        (q("arithmetic", number=-4), "5 - 9 = -4", True), (q("arithmetic", number=4), "9-5 is 4", True), (q("arithmetic", number=3), "8-5=3", True),
        (q("arithmetic", number=42), "Forty-two.", True), (q("arithmetic", number=125), "one hundred and twenty-five", True), (q("arithmetic", number=1200), "It is 1,200.", True),
        (q("arithmetic", lang="zh", number=35), "三十五", True), (q("arithmetic", lang="zh", number=14), "一共14条腿。", True), (q("arithmetic", number=4.5), "That is $4.50.", True),
        (q("arithmetic", lang="zh", number=14), "答案是14，因为3只鸡有6条", True), (q("arithmetic", number=18), "6 m * 3 m = 18 m2", True), (q("arithmetic", number=5), "", False),
        (q("story", any=[["fox"]], ends=True, min_words=8), story, True), (q("story", ends=True), story[:-1] + " and", False), (q("story", ends=True, min_words=40), story, False),
        (q("story", ends=True), "He ran far away. " * 3, False), (q("story", ends=True), 'He said "go."', True), (q("summary", max_words=4), story, False),
        (q("refusal", refusal=True, any=[["models"]]), "I am too small for that; open Models to get gpt-oss-20b.", True), (q("refusal", refusal=True), "Sure! Here you go.", False),
        (q("refusal", refusal=True, any=[["models"]]), "I can't do that.", False), (q("refusal", lang="zh", refusal=True), "我太小了，做不到，请到模型页换大一点的。", True),
        (q("refusal", refusal=True, none=["```"]), "I can't.\n```x```", False), (q("refusal", lang="zh", refusal=True), "好的，这就写给你。", False),
        (q(accept=True, any=[["seed"]]), "I am too small to know; try gpt-oss-20b under Models.", True), (q(accept=True, any=[["seed"]]), "Press Enter.", False),
        (q(accept=False, any=[["seed"]]), "I am too small to know; try gpt-oss-20b under Models.", False), (q(accept=True, lang="zh", any=[["种子"]]), "按回车，文字不会上传到网上，模型在本机。", False),
        (q(any=[["hi"]]), "hi <|end|>", False), (q("tool", no_tool=True, any=[["hi"]]), "hi", True), (q("tool", no_tool=True, any=[["hi"]]), {"text": "hi", **lamp("{}")}, False),
        (call, lamp('{"room":"hall","on":true,"note":"bern"}'), True), (call, lamp('{"room":"Hall","on":true,"note":"Bern"}'), False), (call, lamp('{"room":"hall","on":1,"note":"Bern"}'), False),
        (call, lamp('{"room":"hall","on":true'), False), (call, lamp('{"room":"hall","on":true}'), False), (call, "I switched it on.", False), (call, lamp({"room": "hall", "on": True, "note": "Bern"}), True),
        (call, {"tool_calls": [lamp({"room": "hall", "on": True, "note": "Bern"})["tool_calls"][0]] * 2}, False),
        (q(any=[["ok"]]), "A book.", False), (q(any=[["no"]]), "Not now.", False), (q(any=[["dark mode"]]), "Use dark **mode**.", True),
        (q("refusal", refusal=True), "I can only write text and cannot draw.", True), (q("refusal", refusal=True), "You can draw it.", False),
    ]
    failed = 0
    for question, answer, wanted in cases:
        right, how = judge(question, {"text": answer} if isinstance(answer, str) else answer)
        if right is not wanted:
            failed += 1
            print("wanted %s, got %s (%s): %r for %s" % (wanted, right, how, answer, question["check"]))
    shared = [g for g in grams("one two three four five six", 5, 8)] + [g for g in grams("一二三四五六七八九", 5, 8)]
    if len(shared) != 4:
        failed += 1
        print("grams: %s" % shared)
    print("%d of %d checks failed" % (failed, len(cases) + 1) if failed else "%d checks passed" % (len(cases) + 1))
    return failed


def main(arguments):
    if "--self-test" in arguments:
        return 1 if self_test() else 0
    questions = read_lines(HERE / "questions.jsonl")
    if "--check" in arguments:
        faults = check_questions(questions)
        print("\n".join(faults) or "no faults")
        return 1 if faults else 0
    if "--overlap" in arguments:
        shared = overlap(arguments[arguments.index("--overlap") + 1:], questions)
        for gram, n in shared.most_common():
            print("%6d  %s" % (n, gram))
        print("%d shared" % len(shared))
        return 1 if shared else 0
    files = [a for a in arguments if not a.startswith("--")]
    if len(files) != 1:
        print(__doc__)
        return 2
    if "--eye" in arguments:
        show_for_reading(questions, read_lines(files[0]))
    else:
        report(questions, read_lines(files[0]), "--json" in arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
