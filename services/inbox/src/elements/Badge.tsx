import type { ReactNode } from 'react';

export type Tone = 'plain' | 'accent' | 'good' | 'warning' | 'danger';

export function Badge({ tone = 'plain', title, children }: { tone?: Tone; title?: string; children: ReactNode }) {
  return (
    <span className={`badge badge-${tone}`} title={title}>
      {children}
    </span>
  );
}
