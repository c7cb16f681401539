// A small button that copies a text and says so for a moment.
import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useT } from '../i18n';
import { copyText } from './copyText';

interface Props {
  /** A function is asked when the button is pressed. */
  text: string | (() => string);
  label: string;
  size?: number;
}

export function CopyButton({ text, label, size = 15 }: Props) {
  const t = useT();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), 1600);
    return () => clearTimeout(timer);
  }, [copied]);
  const press = async (): Promise<void> => setCopied(await copyText(typeof text === 'string' ? text : text()));
  return (
    <button type="button" className="icon-button" aria-label={label} title={label} onClick={() => void press()}>
      {copied ? <Check size={size} aria-hidden /> : <Copy size={size} aria-hidden />}
      <span className="hidden" role="status">
        {copied ? t('common.copied') : ''}
      </span>
    </button>
  );
}
