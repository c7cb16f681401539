// A path on this computer: typed, or chosen in the system's own dialog where the page stands in Hearth's window. A browser has none that
// would tell a path.
import type { PathKind } from '@contract/bridge';
import { File, FolderOpen } from 'lucide-react';
import { useT } from '../i18n';
import './pathField.css';

interface Props {
  value: string;
  label: string;
  placeholder?: string;
  /** What can be chosen; the first is the usual. */
  kinds: readonly PathKind[];
  onChange: (path: string) => void;
}

const SIGNS = { folder: FolderOpen, file: File } as const;

export function PathField({ value, label, placeholder = label, kinds, onChange }: Props) {
  const t = useT();
  const choosePath = window.hearth?.choosePath;
  const choose = async (kind: PathKind): Promise<void> => {
    const path = await choosePath?.(kind);
    if (path !== undefined) onChange(path);
  };
  return (
    <span className="path-field">
      <input
        className="field"
        value={value}
        spellCheck={false}
        autoComplete="off"
        aria-label={label}
        placeholder={placeholder}
        onChange={(event) => onChange(event.target.value)}
      />
      {choosePath &&
        kinds.map((kind) => {
          const Sign = SIGNS[kind];
          return (
            <button
              key={kind}
              type="button"
              className="icon-button"
              aria-label={t(`path.choose.${kind}`)}
              title={t(`path.choose.${kind}`)}
              onClick={() => void choose(kind)}
            >
              <Sign size={16} aria-hidden />
            </button>
          );
        })}
    </span>
  );
}
