// The numbers of one answer in small type, and its receipt on demand.
import type { Message, Receipt } from '@contract/own';
import { Popover } from 'radix-ui';
import { currentLanguage, type Key, type Translate, useT } from '../i18n';
import { CopyButton } from '../parts/CopyButton';
import { decimal, seconds, speed } from '../parts/format';
import '../parts/menu.css';

export function AnswerNumbers({ message }: { message: Message }) {
  const t = useT();
  const parts = numbersOf(t, message);
  return (
    <div className="numbers num" role="group" aria-label={t('numbers.label')}>
      {parts.map((part) => (
        <span key={part}>{part}</span>
      ))}
      {message.receipt && <ReceiptButton receipt={message.receipt} />}
    </div>
  );
}

export function numbersOf(t: Translate, { timings, usage, finishReason, status }: Message): string[] {
  const language = currentLanguage();
  const parts: string[] = [];
  if (!usage || usage.completionTokens === 0) return parts;
  if (timings && timings.decodeTps > 0) parts.push(t('numbers.speed', { speed: speed(timings.decodeTps, language) }));
  if (timings && timings.ttftMs > 0) {
    parts.push(t('numbers.first', { seconds: seconds(timings.queueMs + timings.ttftMs, language) }));
  }
  parts.push(t('numbers.tokens', { count: usage.completionTokens }));
  if (status === 'interrupted') parts.push(t('end.interrupted'));
  else if (finishReason) parts.push(t(`end.${finishReason}`));
  return parts;
}

type Row = [label: Key, value: string];

function receiptRows(t: Translate, receipt: Receipt): Row[] {
  const rows: Row[] = [
    ['receipt.model', receipt.model],
    ['receipt.modelId', receipt.modelId],
    ['receipt.engineBuild', receipt.engineBuild],
    ['receipt.mesh', receipt.mesh],
    ['receipt.seed', String(receipt.seed)],
    ['receipt.temperature', decimal(receipt.temperature, 2, currentLanguage())],
  ];
  if (receipt.effort) rows.push(['receipt.effort', t(`effort.${receipt.effort}`)]);
  if (receipt.date) rows.push(['receipt.date', receipt.date]);
  rows.push(['receipt.requestId', receipt.requestId]);
  return rows;
}

function ReceiptButton({ receipt }: { receipt: Receipt }) {
  const t = useT();
  const rows = receiptRows(t, receipt);
  const asText = (): string => rows.map(([label, value]) => `${t(label)}: ${value}`).join('\n');
  return (
    <Popover.Root>
      <Popover.Trigger className="numbers-receipt">{t('receipt.open')}</Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          className="pop receipt"
          side="top"
          align="start"
          sideOffset={6}
          collisionPadding={8}
          aria-label={t('receipt.title')}
        >
          <div className="receipt-head">
            <h2>{t('receipt.title')}</h2>
            <CopyButton text={asText} label={t('receipt.copy')} />
          </div>
          <dl>
            {rows.map(([label, value]) => (
              <div key={label}>
                <dt>{t(label)}</dt>
                <dd className="num" data-mono={value.length > 40}>
                  {value}
                </dd>
              </div>
            ))}
          </dl>
          <p>{t('receipt.text')}</p>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
