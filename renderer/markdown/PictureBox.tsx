// In place of a picture: what it is called and where it would come from. It is never fetched.
import { ImageOff } from 'lucide-react';
import { useT } from '../i18n';
import { pictureOrigin } from './links';

export function PictureBox({ src, name }: { src: string | undefined; name: string }) {
  const t = useT();
  const origin = pictureOrigin(src);
  return (
    <span className="md-picture">
      <ImageOff size={18} aria-hidden />
      <span>
        <bdi>{name ? t('image.named', { name }) : t('image.blocked')}</bdi>
        <span className="md-picture-from">{origin ? t('image.from', { origin }) : t('image.inline')}</span>
      </span>
    </span>
  );
}
