import { useEffect, useRef, useState } from 'react';
import { sentenceOf } from '../api/failure.js';
import { useSession } from './session-context.js';

export function AccountMenu({ onHelp, onPassword }: { onHelp: () => void; onPassword: () => void }) {
  const { me, project, signOut } = useSession();
  const menu = useRef<HTMLDetailsElement>(null);
  const [failure, setFailure] = useState<string | null>(null);

  useEffect(() => {
    const close = (event: Event) => {
      const element = menu.current;
      if (!element?.open) return;
      const escaped = event instanceof KeyboardEvent && event.key === 'Escape';
      if (escaped) {
        event.preventDefault();
        element.querySelector('summary')?.focus();
      }
      if (escaped || (event instanceof PointerEvent && !element.contains(event.target as Node))) element.open = false;
    };
    document.addEventListener('pointerdown', close);
    document.addEventListener('keydown', close, true);
    return () => {
      document.removeEventListener('pointerdown', close);
      document.removeEventListener('keydown', close, true);
    };
  }, []);

  /** A dialog gives the focus back to where it was: that is the menu's button, for its items are gone by then. */
  const opening = (open: () => void) => () => {
    if (menu.current) menu.current.open = false;
    menu.current?.querySelector('summary')?.focus();
    open();
  };
  return (
    <details className="menu" ref={menu}>
      <summary className="menu-button" aria-label={`Account: ${me.name || me.email}`}>
        <span className="avatar" aria-hidden="true">
          {initialsOf(me.name || me.email)}
        </span>
      </summary>
      <div className="menu-panel">
        <div className="menu-who">
          <strong>{me.name || me.email}</strong>
          <span className="muted">{me.email}</span>
          <span className="muted">
            {project.role === 'admin' ? 'Admin' : 'Reviewer'} of {project.name}
          </span>
        </div>
        <button type="button" className="menu-item" onClick={opening(onHelp)}>
          Keyboard shortcuts
        </button>
        <button type="button" className="menu-item" onClick={opening(onPassword)}>
          Change password
        </button>
        <button type="button" className="menu-item" onClick={() => signOut().catch((error: unknown) => setFailure(sentenceOf(error)))}>
          Sign out
        </button>
        {failure ? (
          <p className="danger-text menu-note" role="alert">
            {failure}
          </p>
        ) : null}
      </div>
    </details>
  );
}

function initialsOf(name: string): string {
  const words = name.split(/[\s.@_-]+/).filter(Boolean);
  return words
    .slice(0, 2)
    .map((word) => [...word][0]?.toUpperCase() ?? '')
    .join('');
}
