import { Dialog } from '../elements/Dialog.js';
import { PasswordForm } from './PasswordForm.js';
import { useSession } from './session-context.js';

/** Over the work that was under way: nothing of it is lost, and it goes on where it was. */
export function SessionEndedDialog() {
  const { me, ended, refresh } = useSession();
  if (!ended) return null;
  return (
    <Dialog title="You have been signed out">
      <p>Your session has ended. What you typed is still here: sign in again to go on.</p>
      <PasswordForm email={me.email} onSignedIn={() => void refresh()} />
    </Dialog>
  );
}
