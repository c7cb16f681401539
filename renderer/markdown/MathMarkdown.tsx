// Markdown with formulas. Apart, so that KaTeX and its fonts are fetched only by answers that have a formula.
import { memo } from 'react';
import ReactMarkdown from 'react-markdown';
import rehypeKatex from 'rehype-katex';
import remarkGfm from 'remark-gfm';
import remarkMath from 'remark-math';
import 'katex/dist/katex.min.css';
import { elements } from './elements';
import { keepUrl } from './MarkdownBlock';

const remark = [remarkGfm, [remarkMath, { singleDollarTextMath: false }]] as never;
const rehype = [
  [rehypeKatex, { strict: 'ignore', trust: false, maxSize: 20, maxExpand: 300, errorColor: 'var(--ink-2)' }],
] as never;

export default memo(function MathMarkdown({ source }: { source: string }) {
  return (
    <ReactMarkdown remarkPlugins={remark} rehypePlugins={rehype} components={elements} urlTransform={keepUrl}>
      {source}
    </ReactMarkdown>
  );
});
