// How long the model thinks before it answers, in three words. Absent where the model does not think.
import type { Effort } from '@contract/chat';
import { Check, ChevronDown, Lightbulb } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { useT } from '../i18n';
import { useChatSettings } from '../inspector/useChatSettings';
import { changeSettings } from '../state/actions';
import { useApp } from '../state/app';
import '../parts/menu.css';

const EFFORTS: readonly Effort[] = ['low', 'medium', 'high'];

export function ComposerEffort({ chatId }: { chatId: string | undefined }) {
  const t = useT();
  const { effort } = useChatSettings(chatId);
  const thinks = useApp((app) => app.state?.active?.abilities?.reasoning !== false);
  if (!thinks) return <span />;
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger className="composer-effort">
        <Lightbulb size={15} aria-hidden />
        <span className="hidden">{t('effort.label')}: </span>
        {t(`effort.${effort}`)}
        <ChevronDown size={14} aria-hidden />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="start" side="top" sideOffset={6} aria-label={t('effort.label')}>
          <DropdownMenu.RadioGroup
            value={effort}
            onValueChange={(value) => changeSettings(chatId, { effort: value as Effort })}
          >
            {EFFORTS.map((value) => (
              <DropdownMenu.RadioItem key={value} value={value} className="menu-item">
                <span className="menu-check">{value === effort && <Check size={16} aria-hidden />}</span>
                <span className="menu-item-words">
                  {t(`effort.${value}`)}
                  <span className="menu-item-hint">{t(`effort.${value}Hint`)}</span>
                </span>
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
