// What each Markdown element becomes on the page. Every block finds its own direction, so that right-to-left text cannot disturb others.
import clsx from 'clsx';
import { Square, SquareCheck } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';
import type { Components } from 'react-markdown';
import { useT } from '../i18n';
import { CodeBlock } from './CodeBlock';
import { plainAddress, safeLink } from './links';
import { PictureBox } from './PictureBox';

function TextLink({ href, children }: { href?: string | undefined; children?: ReactNode }) {
  const t = useT();
  const target = safeLink(href);
  if (!target) {
    const address = plainAddress(href);
    return (
      <bdi>
        {children}
        {address && String(children) !== address && <span className="md-address"> ({address})</span>}
      </bdi>
    );
  }
  return (
    <a href={target} target="_blank" rel="noopener noreferrer nofollow" title={target}>
      <bdi>{children}</bdi>
      <span className="hidden"> ({t('common.opensInTab')})</span>
    </a>
  );
}

function Table({ children }: { children?: ReactNode }) {
  const t = useT();
  return (
    <div className="md-table" role="region" aria-label={t('table.label')} tabIndex={0}>
      <table>{children}</table>
    </div>
  );
}

function Pre({ children }: { children?: ReactNode }) {
  const code = codeWithin(children);
  return code ? <CodeBlock code={code.text} language={code.language} growing={false} /> : <pre>{children}</pre>;
}

/** The text and language of the `code` element that Markdown puts within a `pre`. */
function codeWithin(children: ReactNode): { text: string; language: string } | undefined {
  if (typeof children !== 'object' || children === null || !('props' in children)) return undefined;
  const { className, children: inner } = children.props as { className?: string; children?: ReactNode };
  if (typeof inner !== 'string') return undefined;
  return { text: inner.replace(/\n$/, ''), language: /language-(\S+)/.exec(className ?? '')?.[1] ?? '' };
}

type Cell = ComponentProps<'td'> & { node?: unknown };
const cell = (Tag: 'td' | 'th') =>
  function TableCell({ node: _, style, children }: Cell) {
    return (
      <Tag dir="auto" style={style?.textAlign ? { textAlign: style.textAlign } : undefined}>
        {children}
      </Tag>
    );
  };

export const elements: Components = {
  p: ({ children }) => <p dir="auto">{children}</p>,
  // Headings of an answer stand below those of the page.
  h1: ({ children }) => (
    <h3 className="md-h1" dir="auto">
      {children}
    </h3>
  ),
  h2: ({ children }) => (
    <h4 className="md-h2" dir="auto">
      {children}
    </h4>
  ),
  h3: ({ children }) => (
    <h5 className="md-h3" dir="auto">
      {children}
    </h5>
  ),
  h4: ({ children }) => (
    <h6 className="md-h4" dir="auto">
      {children}
    </h6>
  ),
  h5: ({ children }) => (
    <h6 className="md-h4" dir="auto">
      {children}
    </h6>
  ),
  h6: ({ children }) => (
    <h6 className="md-h4" dir="auto">
      {children}
    </h6>
  ),
  ul: ({ children, className }) => (
    <ul className={clsx(className === 'contains-task-list' && 'md-tasks')}>{children}</ul>
  ),
  ol: ({ children, start }) => <ol start={start}>{children}</ol>,
  li: ({ children }) => <li dir="auto">{children}</li>,
  blockquote: ({ children }) => <blockquote dir="auto">{children}</blockquote>,
  a: ({ href, children }) => <TextLink href={href}>{children}</TextLink>,
  img: ({ src, alt }) => <PictureBox src={typeof src === 'string' ? src : undefined} name={alt ?? ''} />,
  input: ({ checked }) =>
    checked ? <SquareCheck className="md-task" aria-label="☑" /> : <Square className="md-task" aria-label="☐" />,
  table: ({ children }) => <Table>{children}</Table>,
  th: cell('th'),
  td: cell('td'),
  pre: ({ children }) => <Pre>{children}</Pre>,
  code: ({ children, className }) => <code className={className}>{children}</code>,
};
