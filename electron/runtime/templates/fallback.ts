// Templates for models that bring none.
import type { Tokenizer } from '../tokenizer';

const CHATML =
  "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/** For models without any chat markup: a plain dialogue. */
const DIALOGUE =
  "{{ bos_token }}{% for m in messages %}{{ (m.role | capitalize) + ': ' + m.content + '\\n\\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}";

/** ChatML where the vocabulary has its markers, else a plain dialogue. */
export function fallbackTemplate(tokenizer: Tokenizer): string {
  const markers = ['<|im_start|>', '<|im_end|>'].every((name) => tokenizer.special(name) !== undefined);
  return markers ? CHATML : DIALOGUE;
}
