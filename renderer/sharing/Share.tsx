// Whether other computers may copy the models of this one, and what they need for it.
import { Switch } from 'radix-ui';
import { useT } from '../i18n';
import { CopyButton } from '../parts/CopyButton';
import '../settings/settings.css';
import { attempt } from '../state/actions';
import { share } from '../state/modelActions';
import { useSharing } from '../state/modelQueries';

export function Share() {
  const t = useT();
  const { data: sharing } = useSharing();
  if (!sharing) return null;
  const { on, urls, key } = sharing;
  return (
    <section className="section">
      <h2>{t('share.title')}</h2>
      <p>{t('share.text')}</p>
      <div className="card rows">
        <div>
          <label className="place-words" htmlFor="share">
            <span>{t('share.switch')}</span>
            <span className="place-facts">{t(on ? 'share.onText' : 'share.offText')}</span>
          </label>
          <Switch.Root id="share" className="switch" checked={on} onCheckedChange={(next) => attempt(share(next))}>
            <Switch.Thumb className="switch-thumb" />
          </Switch.Root>
        </div>
        {on && urls.length === 0 && <div className="place-facts">{t('share.noNetwork')}</div>}
        {on && urls.map((url) => <Needed key={url} label={t('share.url')} value={url} />)}
        {key !== undefined && <Needed label={t('share.key')} value={key} />}
      </div>
    </section>
  );
}

function Needed({ label, value }: { label: string; value: string }) {
  const t = useT();
  return (
    <dl>
      <dt>{label}</dt>
      <dd>
        <code className="mono">{value}</code>
        <CopyButton text={value} label={t('common.copyNamed', { name: label })} />
      </dd>
    </dl>
  );
}
