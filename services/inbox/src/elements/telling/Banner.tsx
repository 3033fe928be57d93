import type { ReactNode, Ref } from 'react';
import type { Tone } from '../Badge.js';

/** Something the person has to know before they go on. `urgent` interrupts a screen reader, the rest waits for its turn. */
export function Banner({
  tone,
  title,
  urgent = false,
  actions,
  children,
  ref,
}: {
  tone: Tone;
  title: string;
  urgent?: boolean;
  actions?: ReactNode;
  children?: ReactNode;
  ref?: Ref<HTMLDivElement>;
}) {
  return (
    <div className={`banner banner-${tone}`} role={urgent ? 'alert' : 'status'} ref={ref} tabIndex={ref ? -1 : undefined}>
      <div className="banner-body">
        <p className="banner-title">{title}</p>
        {children ? <div className="banner-text">{children}</div> : null}
      </div>
      {actions ? <div className="banner-actions">{actions}</div> : null}
    </div>
  );
}
