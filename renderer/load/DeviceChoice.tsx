// What a model is loaded onto, where there is a choice; and why it would go there by itself.
import type { LoadPlan } from '@contract/models';
import { useT } from '../i18n';
import { whyWords } from '../model/deviceWords';
import { Segmented } from '../parts/Segmented';

interface Props {
  plan: LoadPlan;
  /** Absent: by itself. */
  value: string | undefined;
  onChange: (device: string | undefined) => void;
}

const AUTO = 'auto';

export function DeviceChoice({ plan, value, onChange }: Props) {
  const t = useT();
  const nameOf = (name: string | undefined): string => name ?? t('model.cpu');
  const chosen = plan.devices.find(({ id }) => id === plan.device);
  if (plan.devices.length < 2 || !plan.why) return null;
  return (
    <div className="load-device">
      <Segmented
        label={t('device.title')}
        value={value ?? AUTO}
        options={[
          { value: AUTO, label: t('device.auto') },
          ...plan.devices.map(({ id, name }) => ({ value: id, label: nameOf(name) })),
        ]}
        onChange={(device) => onChange(device === AUTO ? undefined : device)}
      />
      <p className="place-facts">{whyWords(t, plan.why, nameOf(chosen?.name))}</p>
    </div>
  );
}
