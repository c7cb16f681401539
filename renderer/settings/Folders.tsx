// The folders in which models are looked for. Folders of other programs that were found are offered; forgetting one deletes nothing.
import type { ErrorCode } from '@contract/errors';
import type { ModelFolder } from '@contract/models';
import { FolderPlus, FolderX } from 'lucide-react';
import { useState } from 'react';
import { ApiError } from '../api/client';
import { currentLanguage, useT } from '../i18n';
import { bytes } from '../parts/format';
import { PathField } from '../parts/PathField';
import { attempt } from '../state/actions';
import { addFolder, forgetFolder } from '../state/modelActions';
import { useFolders } from '../state/modelQueries';
import './settings.css';

export function Folders() {
  const t = useT();
  const { data: folders = [] } = useFolders();
  const known = folders.filter(({ suggested }) => !suggested);
  const offered = folders.filter(({ suggested }) => suggested);
  return (
    <section className="section">
      <h2>{t('folder.title')}</h2>
      <p>{t('folder.text')}</p>
      <ul className="card rows">
        {known.map((folder) => (
          <FolderRow key={folder.id} folder={folder} />
        ))}
        <AddFolder />
      </ul>
      {offered.length > 0 && (
        <>
          <h3>{t('folder.found')}</h3>
          <ul className="card rows">
            {offered.map((folder) => (
              <FolderRow key={folder.id} folder={folder} />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function FolderRow({ folder }: { folder: ModelFolder }) {
  const t = useT();
  const { id, path, kind, suggested } = folder;
  return (
    <li className="place">
      <span className="place-words">
        <span>{t(`folder.kind.${kind}`)}</span>
        <bdi className="place-path">{path}</bdi>
        <FolderFacts folder={folder} />
      </span>
      {suggested && (
        <button
          type="button"
          className="button"
          aria-label={t('folder.addNamed', { path })}
          onClick={() => attempt(addFolder(path))}
        >
          <FolderPlus size={15} aria-hidden />
          {t('folder.add')}
        </button>
      )}
      {!suggested && kind !== 'own' && (
        <button
          type="button"
          className="button"
          title={t('folder.forgetText')}
          aria-label={t('folder.forgetNamed', { path })}
          onClick={() => attempt(forgetFolder(id))}
        >
          <FolderX size={15} aria-hidden />
          {t('folder.forget')}
        </button>
      )}
    </li>
  );
}

function FolderFacts({
  folder: { present, suggested, models, bytes: size, freeBytes, notes },
}: {
  folder: ModelFolder;
}) {
  const t = useT();
  const language = currentLanguage();
  if (!present) return <span className="place-missing">{t('folder.missing')}</span>;
  if (suggested) return null;
  return (
    <span className="place-facts num">
      <span>{t('folder.models', { count: models, size: bytes(size, language) })}</span>
      {freeBytes !== undefined && <span>{t('folder.free', { amount: bytes(freeBytes, language) })}</span>}
      {notes.length > 0 && (
        <details className="place-notes">
          <summary>{t('folder.notes', { count: notes.length })}</summary>
          <ul>
            {notes.map(({ code, path }) => (
              <li key={`${code} ${path}`}>
                <bdi className="place-path">{path || '.'}</bdi> {t(`folder.note.${code}`)}
              </li>
            ))}
          </ul>
        </details>
      )}
    </span>
  );
}

/** What is wrong with a path is said beside it. */
const WRONG: Partial<Record<ErrorCode, 'folder.notThere' | 'folder.known'>> = {
  file_not_found: 'folder.notThere',
  invalid_request: 'folder.known',
};

function AddFolder() {
  const t = useT();
  const [path, setPath] = useState('');
  const [wrong, setWrong] = useState<(typeof WRONG)[ErrorCode]>();
  const add = async (): Promise<void> => {
    try {
      await addFolder(path.trim());
      setPath('');
    } catch (error) {
      const words = error instanceof ApiError ? WRONG[error.code] : undefined;
      if (!words) throw error;
      setWrong(words);
    }
  };
  return (
    <li className="place">
      <form
        className="place-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (path.trim()) attempt(add());
        }}
      >
        <PathField
          value={path}
          label={t('folder.path')}
          kinds={['folder']}
          onChange={(next) => (setPath(next), setWrong(undefined))}
        />
        <button type="submit" className="button" disabled={!path.trim()}>
          <FolderPlus size={15} aria-hidden />
          {t('folder.add')}
        </button>
        {wrong && (
          <p className="path-wrong" role="alert">
            {t(wrong)}
          </p>
        )}
      </form>
    </li>
  );
}
