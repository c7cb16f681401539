// One block of Markdown. Formulas bring their own, larger chunk of the program, loaded when the first one is met.
import { lazy, memo, Suspense } from 'react';
import ReactMarkdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { elements } from './elements';
import { healOpenMarks } from './heal';
import { prepareMath } from './mathText';

const MathMarkdown = lazy(() => import('./MathMarkdown'));
const plugins = [remarkGfm];

export const MarkdownBlock = memo(function MarkdownBlock({ source, growing }: { source: string; growing: boolean }) {
  const prepared = prepareMath(growing ? healOpenMarks(source) : source);
  const plain = (
    <ReactMarkdown remarkPlugins={plugins} components={elements} urlTransform={keepUrl}>
      {prepared.source}
    </ReactMarkdown>
  );
  if (!prepared.hasMath) return plain;
  return (
    <Suspense fallback={plain}>
      <MathMarkdown source={prepared.source} />
    </Suspense>
  );
});

/** Addresses are judged in links.ts by the elements that would use them. */
export const keepUrl = (url: string): string => url;
