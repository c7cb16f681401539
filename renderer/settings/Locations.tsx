// Where models, cache and chats lie, and moving them: a copy that is checked, then a switch. Nothing is lost if it breaks off.
import type { Location, MoveState } from '@contract/models';
import { useState } from 'react';
import { currentLanguage, useT } from '../i18n';
import { Dialog } from '../parts/Dialog';
import { ErrorNote } from '../parts/ErrorNote';
import { bytes } from '../parts/format';
import { PathField } from '../parts/PathField';
import { Progress } from '../parts/Progress';
import { attempt } from '../state/actions';
import { moveLocation } from '../state/modelActions';
import { useLocations } from '../state/modelQueries';

export function Locations() {
  const t = useT();
  const { data } = useLocations();
  const [moving, setMoving] = useState<Location | undefined>();
  if (!data || data.locations.length === 0) return null;
  return (
    <section className="section">
      <h2>{t('place.title')}</h2>
      <p>{t('place.text')}</p>
      <ul className="card rows">
        {data.locations.map((place) => (
          <Place
            key={place.what}
            place={place}
            move={data.moves.find((move) => move.what === place.what)}
            onMove={() => setMoving(place)}
          />
        ))}
      </ul>
      {moving && <MoveDialog place={moving} onClose={() => setMoving(undefined)} />}
    </section>
  );
}

interface PlaceProps {
  place: Location;
  move: MoveState | undefined;
  onMove: () => void;
}

function Place({ place, move, onMove }: PlaceProps) {
  const t = useT();
  const language = currentLanguage();
  const underWay = move && move.phase !== 'done' && move.phase !== 'failed' ? move : undefined;
  return (
    <li className="place">
      <span className="place-words">
        <span>{t(`place.${place.what}`)}</span>
        <bdi className="place-path">{place.path}</bdi>
        {underWay ? (
          <Moving move={underWay} />
        ) : (
          <span className="place-facts num">{bytes(place.bytes, language)}</span>
        )}
        {move?.phase === 'failed' && move.error && <ErrorNote error={move.error} />}
      </span>
      {!underWay && (
        <button type="button" className="button" aria-label={t(`place.moveNamed.${place.what}`)} onClick={onMove}>
          {t('place.move')}
        </button>
      )}
    </li>
  );
}

function Moving({ move }: { move: MoveState }) {
  const t = useT();
  const language = currentLanguage();
  const { phase, doneBytes, totalBytes, to } = move;
  const done = bytes(doneBytes, language);
  const total = bytes(totalBytes, language);
  return (
    <span className="place-moving" role="status">
      <bdi className="place-path">{t('place.to', { path: to })}</bdi>
      <Progress share={totalBytes > 0 ? doneBytes / totalBytes : 0} />
      <span className="num">
        {phase === 'copying' || phase === 'verifying'
          ? t(`place.phase.${phase}`, { done, total })
          : t('place.phase.switching')}
      </span>
    </span>
  );
}

function MoveDialog({ place, onClose }: { place: Location; onClose: () => void }) {
  const t = useT();
  const [to, setTo] = useState('');
  const target = to.trim();
  const move = (): void => {
    if (!target) return;
    attempt(moveLocation(place.what, target));
    onClose();
  };
  return (
    <Dialog
      title={t(`place.moveNamed.${place.what}`)}
      text={t('place.moveText', { size: bytes(place.bytes, currentLanguage()) })}
      onClose={onClose}
      buttons={
        <>
          <button type="button" className="button" onClick={onClose}>
            {t('common.cancel')}
          </button>
          <button
            type="button"
            className="button button-main"
            disabled={!target || target === place.path}
            onClick={move}
          >
            {t('place.move')}
          </button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          move();
        }}
      >
        <PathField value={to} label={t('place.toField')} placeholder={place.path} kinds={['folder']} onChange={setTo} />
      </form>
    </Dialog>
  );
}
