// The folders in which models are looked for. Folders of other programs that were found are offered; forgetting one deletes nothing.
import type { ModelFolder } from '@contract/models';
import { FolderPlus, FolderX } from 'lucide-react';
import { useState } from 'react';
import { currentLanguage, useT } from '../i18n';
import { bytes } from '../parts/format';
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

function AddFolder() {
  const t = useT();
  const [path, setPath] = useState('');
  const add = async (): Promise<void> => {
    await addFolder(path.trim());
    setPath('');
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
        <input
          className="field"
          value={path}
          spellCheck={false}
          aria-label={t('folder.path')}
          placeholder={t('folder.path')}
          onChange={(event) => setPath(event.target.value)}
        />
        <button type="submit" className="button" disabled={!path.trim()}>
          <FolderPlus size={15} aria-hidden />
          {t('folder.add')}
        </button>
      </form>
    </li>
  );
}
