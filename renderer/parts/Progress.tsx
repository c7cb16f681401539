// A thin bar that fills; its number stands beside it in words, so it is not read aloud twice.
import './progress.css';

export function Progress({ share, quiet }: { share: number; quiet?: boolean }) {
  const filled = Math.min(1, Math.max(0, share));
  return (
    <span className="progress" data-quiet={quiet} aria-hidden>
      <span style={{ transform: `scaleX(${filled})` }} />
    </span>
  );
}
