import { Dialog } from '../elements/Dialog.js';
import { PasswordForm } from './PasswordForm.js';
import { useSession } from './session-context.js';

/** Over the work that was under way: nothing of it is lost, and it goes on where it was. */
export function SessionEndedDialog() {
  const { me, ended, refresh } = useSession();
  if (!ended) return null;
  return (
    <Dialog title="You were signed out">
      <p>Your session has ended. Your input is kept. Sign in again to continue.</p>
      <PasswordForm email={me.email} onSignedIn={() => void refresh()} />
    </Dialog>
  );
}
