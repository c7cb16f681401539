// Code: plain while it grows, coloured when it is finished and the page is idle. Copying gives the source as it came.
import { WrapText } from 'lucide-react';
import { memo, useEffect, useState } from 'react';
import { useT } from '../i18n';
import { CopyButton } from '../parts/CopyButton';
import { setPref, usePrefs } from '../state/prefs';
import { showTurning } from './bidi';
import { type CodeLine, highlight, whenIdle } from './highlight';

interface Props {
  code: string;
  language: string;
  growing: boolean;
}

export const CodeBlock = memo(function CodeBlock({ code, language, growing }: Props) {
  const t = useT();
  const wrap = usePrefs((prefs) => prefs.wrapCode);
  const lines = useColours(code, language, growing);
  const label = language || t('code.plain');
  return (
    <figure className="code" data-wrap={wrap}>
      <figcaption className="code-head">
        <bdi>{label.slice(0, 40)}</bdi>
        <button
          type="button"
          className="icon-button code-wrap"
          aria-pressed={wrap}
          aria-label={t('code.wrap')}
          title={t('code.wrap')}
          onClick={() => setPref({ wrapCode: !wrap })}
        >
          <WrapText size={15} aria-hidden />
        </button>
        <CopyButton text={code} label={t('code.copy')} />
      </figcaption>
      <pre dir="ltr" tabIndex={0} aria-label={label}>
        <code>{lines ? <Coloured lines={lines} /> : <Plain code={showTurning(code)} />}</code>
      </pre>
    </figure>
  );
});

function useColours(code: string, language: string, growing: boolean): CodeLine[] | undefined {
  const [coloured, setColoured] = useState<{ code: string; lines: CodeLine[] } | undefined>();
  useEffect(() => {
    if (growing || !language) return undefined;
    let wanted = true;
    const giveUp = whenIdle(() => {
      void highlight(showTurning(code), language).then((lines) => {
        if (wanted && lines) setColoured({ code, lines });
      });
    });
    return () => {
      wanted = false;
      giveUp();
    };
  }, [code, language, growing]);
  return coloured?.code === code ? coloured.lines : undefined;
}

const Coloured = memo(function Coloured({ lines }: { lines: CodeLine[] }) {
  return lines.map((line, index) => (
    <span key={index}>
      {line.map((token, at) => (
        <span key={at} style={{ color: token.color }}>
          {token.content}
        </span>
      ))}
      {index < lines.length - 1 && '\n'}
    </span>
  ));
});

const LINES_PER_PIECE = 100;

/** In pieces of lines, so that only the last piece is drawn again while code grows. */
function Plain({ code }: { code: string }) {
  const pieces: string[] = [];
  let from = 0;
  let lines = 0;
  for (let at = code.indexOf('\n'); at >= 0; at = code.indexOf('\n', at + 1)) {
    if (++lines % LINES_PER_PIECE === 0) {
      pieces.push(code.slice(from, at + 1));
      from = at + 1;
    }
  }
  pieces.push(code.slice(from));
  return pieces.map((piece, index) => <Piece key={index} text={piece} />);
}

const Piece = memo(function Piece({ text }: { text: string }) {
  return <span>{text}</span>;
});
