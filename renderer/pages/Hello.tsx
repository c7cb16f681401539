// Above the composer of a new chat: a greeting for the time of day and one true sentence.
import { useT } from '../i18n';
import { Mark } from '../parts/Mark';
import { useApp } from '../state/app';
import { pageHref } from '../state/page';
import { useModels, useRemoteOf } from '../state/queries';

export function greeting(hour: number): `hello.${'morning' | 'day' | 'evening' | 'night'}` {
  if (hour >= 5 && hour < 12) return 'hello.morning';
  if (hour >= 12 && hour < 18) return 'hello.day';
  return hour >= 18 && hour < 23 ? 'hello.evening' : 'hello.night';
}

export function Hello() {
  const t = useT();
  const active = useApp((app) => app.state?.active);
  const { data: models } = useModels();
  const remote = useRemoteOf(active?.name);
  const line =
    active?.state === 'loading' ? 'hello.loading' : !active && models?.length === 0 ? 'hello.noModel' : 'hello.private';
  return (
    <div className="hello">
      <Mark size={40} />
      <h2>{t(greeting(new Date().getHours()))}</h2>
      <p>{remote !== undefined && line === 'hello.private' ? t('hello.remote', { engine: remote }) : t(line)}</p>
      {line === 'hello.noModel' && (
        <a className="button button-main" href={pageHref('models', 'discover')}>
          {t('models.find')}
        </a>
      )}
    </div>
  );
}
