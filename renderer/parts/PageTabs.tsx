// The parts of one page as links under its title; the address keeps which is open.
import { type PageName, pageHref } from '../state/page';
import './pageTabs.css';

interface Props<T extends string> {
  page: PageName;
  label: string;
  tabs: readonly { part: T; title: string; count?: number | undefined }[];
  current: T;
}

const showWhole = (tab: HTMLElement | null): void => tab?.scrollIntoView?.({ inline: 'nearest', block: 'nearest' });

export function PageTabs<T extends string>({ page, label, tabs, current }: Props<T>) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(({ part, title, count }, index) => (
        <a
          key={part}
          className="tab"
          href={index === 0 ? pageHref(page) : pageHref(page, part)}
          aria-current={part === current ? 'page' : undefined}
          // On a small screen there are more than fit.
          ref={part === current ? showWhole : undefined}
        >
          {title}
          {count ? <span className="tab-count num">{count}</span> : null}
        </a>
      ))}
    </nav>
  );
}
