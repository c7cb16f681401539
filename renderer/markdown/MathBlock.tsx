// A displayed formula: quiet source while it is being written, set when it is closed, text if it never is.
import { lazy, Suspense } from 'react';
import { useT } from '../i18n';
import type { Block } from './blocks';

const MathMarkdown = lazy(() => import('./MathMarkdown'));

export function MathBlock({ block, growing }: { block: Block; growing: boolean }) {
  const t = useT();
  const source = <pre className="md-formula-source">{block.closed ? block.body : block.raw}</pre>;
  if (!block.closed || growing) {
    if (!block.closed) return source;
  }
  return (
    <div className="md-formula" role="group" aria-label={t('math.label')} tabIndex={0}>
      <Suspense fallback={source}>
        <MathMarkdown source={`$$\n${block.body.replaceAll(/\n\s*\n/g, '\n')}\n$$`} />
      </Suspense>
    </div>
  );
}
