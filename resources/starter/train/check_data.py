"""Checks of the training text, to be run by hand after every change of it: `python check_data.py`. A failure prints the sentence.
Owns: what must hold of every generated conversation. Refuses: taste.
Named after what goes wrong without them: wrong sums are learnt as well as right ones."""
from __future__ import annotations

import json
import re
import sys
import unittest
from collections import Counter

import abilities
import harmony
from data import arithmetic, conversations, intents, problems, scope, stories, stories_zh, texts, tools
from data.draw import Draw, held_out

N = 4000
LINE = re.compile(r'(\d+) ([-+×÷]) (\d+) = (-?\d+)')
LEFT = re.compile(r'<[A-Za-z_]\w*>|\{[^}"]*\|')          # a slot or a choice that was not filled


def both(seed: int, n: int, held=(False, True)):
    for side in held:
        d = Draw(seed, side)
        for _ in range(n):
            yield d


class Sums(unittest.TestCase):
    def test_a_wrong_sum_is_never_taught(self):
        for d in both(1, N):
            for make in (arithmetic.turn, problems.turn):
                t = make(d, d.pick(['en', 'zh']))
                for text in [t['final'], *t['think'].values()]:
                    for a, op, b, c in LINE.findall(text):
                        a, b, c = int(a), int(b), int(c)
                        ok = {'+': a + b == c, '-': a - b == c, '×': a * b == c, '÷': b != 0 and a == b * c}[op]
                        self.assertTrue(ok, f'{t["user"]!r}: {text!r}')

    def test_the_final_names_the_result_that_the_checker_expects(self):
        for d in both(2, N):
            t = d.pick([arithmetic.turn, problems.turn])(d, d.pick(['en', 'zh']))
            if t['kind'] == 'sum':
                self.assertTrue(abilities.right({'instructions': None}, t, dict(final=t['final'])), f'{t["user"]!r}: {t["final"]!r}')

    def test_numbers_in_words_say_the_number(self):
        self.assertEqual([arithmetic.in_words(n) for n in (0, 13, 20, 47, 100, 121)], ['zero', 'thirteen', 'twenty', 'forty-seven', 'one hundred', 'one hundred and twenty-one'])
        self.assertEqual([arithmetic.in_chinese(n) for n in (0, 7, 10, 13, 20, 47, 100, 105, 110, 121)], ['零', '七', '十', '十三', '二十', '四十七', '一百', '一百零五', '一百一十', '一百二十一'])


class Calls(unittest.TestCase):
    def test_a_call_fits_the_schema_that_is_on_offer(self):
        for d in both(3, N):
            offered, t = tools.call_turn(d, d.pick(['en', 'zh']))
            tool = next(x for x in offered if x['name'] == t['call'])
            args = json.loads(t['args'])
            known = {p['name']: p for p in tool['params']}
            self.assertLessEqual({p['name'] for p in tool['params'] if p['required']}, set(args), t)
            self.assertEqual(len({x['name'] for x in offered}), len(offered))
            for key, value in args.items():
                kind = {'string': str, 'number': int, 'boolean': bool}[known[key]['type']]
                self.assertIs(type(value), kind, t)
                if known[key].get('enum'):
                    self.assertIn(value, known[key]['enum'])

    def test_what_is_passed_stands_in_the_question(self):
        for d in both(4, N):
            offered, t = tools.call_turn(d, 'en')
            tool = next(x for x in offered if x['name'] == t['call'])
            for p in tool['params']:
                value = json.loads(t['args']).get(p['name'])
                if isinstance(value, str):
                    self.assertIn(value.lower(), t['user'].lower())
                elif isinstance(value, int) and not isinstance(value, bool):
                    self.assertTrue(str(value) in t['user'] or arithmetic.in_words(value) in t['user'].lower(), t)

    def test_no_function_that_fits_is_on_offer_where_none_shall_be_called(self):
        for d in both(5, 1000):
            offered, t = tools.no_fit_turn(d, d.pick(['en', 'zh']))
            self.assertNotIn('call', t)
            self.assertTrue(offered)

    def test_a_json_answer_keeps_to_its_format(self):
        for d in both(6, 1000):
            section, t = tools.format_turn(d)
            form, out = json.loads(section.split('\n\n')[2]), json.loads(t['final'])
            self.assertEqual(list(out), form['required'])
            for key, rule in form['properties'].items():
                self.assertIs(type(out[key]), {'string': str, 'integer': int, 'boolean': bool, 'array': list}[rule['type']])
                self.assertIn(out[key], rule.get('enum', [out[key]]))


class Stories(unittest.TestCase):
    def test_a_story_ends_and_is_about_what_was_asked(self):
        for d in both(7, N):
            t = d.pick([stories.turn, stories_zh.turn])(d)
            self.assertTrue(abilities.story_ended(t['final']), t['final'])
            for word in t['about']:
                self.assertIn(word.lower(), t['final'].lower(), t['user'])
            self.assertIsNone(LEFT.search(t['final'] + t['user']), t)


class Conversations(unittest.TestCase):
    def test_every_conversation_renders_and_reads_back(self):
        for d in both(8, N):
            c = conversations.conversation(d, 0.35)
            t = c['turns'][-1]
            text = ''.join(s for s, _ in harmony.reply(t, True, True))
            if 'call' in t:
                text = text[:text.index('<|call|>') + len('<|call|>')]
            got = harmony.parse(text)
            self.assertIsNotNone(got, text)
            self.assertEqual(got['analysis'], t['analysis'])
            self.assertTrue(got['call'] == t['call'] and got['args'] == t['args'] if 'call' in t else got['final'] == t['final'])

    def test_no_slot_stays_open(self):
        for d in both(9, N):
            for t in conversations.conversation(d, 0.35)['turns']:
                for text in (t['user'], t['final'], t['analysis']):
                    self.assertIsNone(LEFT.search(text), text)
                    self.assertTrue(text.strip())

    def test_an_answer_keeps_the_language_that_it_is_marked_with(self):
        for d in both(10, N):
            c = conversations.conversation(d)
            for t in c['turns'] if not c['instructions'] else []:       # an instruction may ask for a word of the other language
                if t['kind'] in ('talk', 'hearth', 'refusal', 'story', 'summary'):
                    self.assertTrue(abilities.same_language(t['final'], t['lang']) or len(t['final']) < 14, t)

    def test_more_effort_is_more_thought(self):
        d, lengths = Draw(11), {e: [] for e in ('low', 'medium', 'high')}
        for _ in range(N):
            for e, text in conversations.any_turn(d, d.pick(['en', 'zh']))['think'].items():
                lengths[e].append(len(text))
        low, medium, high = (sorted(lengths[e])[N // 2] for e in ('low', 'medium', 'high'))
        self.assertLess(low * 1.5, medium)
        self.assertLess(medium * 1.5, high)

    def test_training_and_validation_share_no_form(self):
        forms = [f for table in (scope.KINDS, scope.KINDS_ZH) for group in table.values() for f in group] + arithmetic.BARE + arithmetic.BARE_ZH + intents.DO + intents.NP
        sides = Counter(held_out(f) for f in forms)
        self.assertGreater(sides[True], len(forms) // 30)
        d = Draw(12)
        for _ in range(2000):
            self.assertFalse(held_out(d.form(forms)))

    def test_both_languages_have_their_share(self):
        d, n = Draw(13), Counter()
        for _ in range(N):
            n.update(t['lang'] for t in conversations.conversation(d)['turns'])
        self.assertGreater(min(n.values()) / sum(n.values()), 0.4, n)


class Intents(unittest.TestCase):
    def test_every_intent_has_its_answers_in_both_languages(self):
        for i in intents.ALL:
            self.assertTrue(i.topic and i.topic_zh and i.lines['a'] and i.lines['a_zh'], i.topic)

    def test_a_topic_stands_once(self):
        self.assertEqual([t for t, n in Counter(i.topic for i in intents.ALL).items() if n > 1], [])

    def test_a_rewriting_never_gives_the_text_back_unchanged(self):
        for d in both(14, 1500):
            t = texts.pair_turn(d, d.chance(0.5))
            self.assertFalse(t['user'].strip('"“”').endswith(t['final']), t)


if __name__ == '__main__':
    print(f'{len(intents.ALL)} intents, {sum(len(v) for i in intents.ALL for v in i.lines.values())} lines of questions and answers')
    unittest.main(argv=[sys.argv[0]])
