import { type ReactNode, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useKeys } from './elements/keys.js';
import { Mark } from './elements/Mark.js';
import { ShortcutsDialog } from './elements/ShortcutsDialog.js';
import { Boundary } from './elements/telling/Boundary.js';
import { StreamLight } from './live/StreamLight.js';
import { AccountMenu } from './session/AccountMenu.js';
import { ProjectSwitch } from './session/ProjectSwitch.js';
import { SessionEndedDialog } from './session/SessionEndedDialog.js';

/** What stands around every screen of somebody who is signed in. */
export function Shell({ children }: { children: ReactNode }) {
  const [help, setHelp] = useState(false);
  const [path] = useLocation();
  useKeys({ '?': () => setHelp(true) });
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
          <AccountMenu onHelp={() => setHelp(true)} />
        </div>
      </header>
      <main id="main" className="main" tabIndex={-1}>
        <Boundary key={path}>{children}</Boundary>
      </main>
      {help ? <ShortcutsDialog onClose={() => setHelp(false)} /> : null}
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
