import { type ReactNode, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useKeys } from './elements/keys.js';
import { Mark } from './elements/Mark.js';
import { ShortcutsDialog } from './elements/ShortcutsDialog.js';
import { Boundary } from './elements/telling/Boundary.js';
import { StreamLight } from './live/StreamLight.js';
import { AccountMenu } from './session/AccountMenu.js';
import { ChangePasswordDialog } from './session/ChangePasswordDialog.js';
import { ProjectSwitch } from './session/ProjectSwitch.js';
import { SessionEndedDialog } from './session/SessionEndedDialog.js';

/** What stands around every screen of somebody who is signed in. */
export function Shell({ children }: { children: ReactNode }) {
  const [dialog, setDialog] = useState<'help' | 'password' | null>(null);
  const close = () => setDialog(null);
  const [path] = useLocation();
  useKeys({ '?': () => setDialog('help') });
  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        Skip to the content
      </a>
      <header className="topbar">
        <Link href="/" className="brand" aria-label="Countersign, inbox">
          <Mark />
          <span className="brand-name">Countersign</span>
        </Link>
        <ProjectSwitch />
        <div className="topbar-end">
          <StreamLight />
          <AccountMenu onHelp={() => setDialog('help')} onPassword={() => setDialog('password')} />
        </div>
      </header>
      <main id="main" className="main" tabIndex={-1}>
        <Boundary key={path}>{children}</Boundary>
      </main>
      {dialog === 'help' ? <ShortcutsDialog onClose={close} /> : null}
      {dialog === 'password' ? <ChangePasswordDialog onClose={close} /> : null}
      <SessionEndedDialog />
    </div>
  );
}

/** A page of its own, for those who are not in yet. */
export function Plain({ children }: { children: ReactNode }) {
  return (
    <main id="main" className="plain">
      <div className="plain-brand">
        <Mark />
        <span className="brand-name">Countersign</span>
      </div>
      {children}
    </main>
  );
}
