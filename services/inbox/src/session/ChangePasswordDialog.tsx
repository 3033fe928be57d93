import { useEffect, useRef, useState } from 'react';
import { Dialog } from '../elements/Dialog.js';
import { ChangePasswordForm } from './ChangePasswordForm.js';
import { useSession } from './session-context.js';

/** For somebody who wants another password. */
export function ChangePasswordDialog({ onClose }: { onClose: () => void }) {
  const { refresh } = useSession();
  const [changed, setChanged] = useState(false);
  const close = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (changed) close.current?.focus();
  }, [changed]);
  if (changed) {
    return (
      <Dialog title="Password changed" onClose={onClose}>
        <p role="status">You are still signed in here, and were signed out everywhere else.</p>
        <div className="dialog-actions">
          <button type="button" className="button button-primary" ref={close} onClick={onClose}>
            Close
          </button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Change password" onClose={onClose}>
      <p className="muted">
        You will be signed out everywhere else. If you do not know your current password, ask whoever runs this server for a recovery link.
      </p>
      <ChangePasswordForm
        current
        label="Change password"
        onChanged={async () => {
          await refresh();
          setChanged(true);
        }}
      >
        <button type="button" className="button button-wide" onClick={onClose}>
          Cancel
        </button>
      </ChangePasswordForm>
    </Dialog>
  );
}
