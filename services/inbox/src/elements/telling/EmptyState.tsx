import type { ReactNode } from 'react';

interface EmptyStateProps {
  title: string;
  /** It is all there is on the page, and not a part of it. */
  whole?: boolean;
  children?: ReactNode;
  actions?: ReactNode;
}

/** A place with nothing in it, and what to do about that. */
export function EmptyState({ title, whole = false, children, actions }: EmptyStateProps) {
  const Heading = whole ? 'h1' : 'h2';
  return (
    <div className="empty-state">
      <Heading className="empty-title">{title}</Heading>
      {children ? <div className="empty-text">{children}</div> : null}
      {actions ? <div className="empty-actions">{actions}</div> : null}
    </div>
  );
}
