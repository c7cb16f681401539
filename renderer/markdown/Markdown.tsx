// Draws an answer's Markdown block by block: finished blocks are memoised by identity and never drawn again.
// Raw HTML is text, pictures are boxes, links are https only. The model's text can do nothing but be read.
import { memo, useState } from 'react';
import { BlockSplitter, type Block } from './blocks';
import { CodeBlock } from './CodeBlock';
import { MarkdownBlock } from './MarkdownBlock';
import { MathBlock } from './MathBlock';
import { PlainBlock } from './PlainBlock';
import './markdown.css';

interface Props {
  text: string;
  /** More text may come. */
  growing: boolean;
}

export const Markdown = memo(function Markdown({ text, growing }: Props) {
  const [splitter] = useState(() => new BlockSplitter());
  const blocks = splitter.update(text, growing);
  const last = blocks.length - 1;
  return (
    <div className="md">
      {blocks.map((block, index) => (
        <BlockView key={block.at} block={block} growing={growing && index === last} />
      ))}
    </div>
  );
});

const BlockView = memo(function BlockView({ block, growing }: { block: Block; growing: boolean }) {
  switch (block.kind) {
    case 'code':
      return <CodeBlock code={block.body} language={block.language} growing={growing && !block.closed} />;
    case 'math':
      return <MathBlock block={block} growing={growing} />;
    case 'plain':
      return <PlainBlock text={block.raw} />;
    default:
      return <MarkdownBlock source={block.raw} growing={growing} />;
  }
});
