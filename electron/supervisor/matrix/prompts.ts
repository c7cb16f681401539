// What every artifact is asked at each check, and the text on which its fast and its exact path are compared. Plain text without a chat
// template or a date: the same tokens in, whatever the model and the day. A change here needs a new name of the set.

export const PROMPT_SET = 'v1';
/** Tokens that are written after each prompt. */
export const ANSWER_TOKENS = 24;

/** Several kinds of text, since a broken kernel may show in one length or one script only. */
export const PROMPTS: Readonly<Record<string, string>> = {
  prose: 'The old lighthouse stood at the end of the harbour wall. Every evening the keeper climbed the stairs and',
  code: 'def fibonacci(n):\n    """Return the n-th Fibonacci number."""\n    a, b = 0, 1\n    for',
  numbers: '2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37,',
  chinese: '春天来了，公园里的花都开了。孩子们在草地上',
  short: 'Yes',
  list: `Shopping list:\n${Array.from({ length: 24 }, (_, i) => `${i + 1}. item number ${i + 1}, of which we need ${(i * 7) % 10}`).join('\n')}\n25.`,
};

export const EXACT_TEXT = `Water is a simple molecule with unusual properties. It expands when it freezes, which is why ice floats and why pipes burst in
winter. It takes more heat to warm a litre of water by one degree than almost any other common liquid, and so oceans keep coasts mild. Salt and sugar
dissolve in it; oil and sand do not. About seventy percent of the surface of the Earth is covered by it, but only three percent of that is fresh, and
most of the fresh water is locked in glaciers. In 1783 Antoine Lavoisier showed that it is no element: burning hydrogen in oxygen gives water again.`;

/** Positions of that text at which the two paths are compared, in tokens; those beyond its end are left out. */
export const EXACT_POSITIONS = [8, 24, 48, 96] as const;
