import { useTitle } from '../../elements/telling/title.js';
import { Plain } from '../../Shell.js';
import { ChangePasswordForm } from '../../session/ChangePasswordForm.js';
import { useSession } from '../../session/session-context.js';

/** For somebody whose password was given to them, or who came by a recovery link: nothing else is open before they have chosen one. */
export function PasswordScreen() {
  useTitle('Choose a password');
  const { me, refresh, signOut } = useSession();
  return (
    <Plain>
      <div className="card">
        <h1 className="card-title">Choose a password</h1>
        <p className="muted">You are signed in as {me.email}. Choose a password of your own to go on.</p>
        <ChangePasswordForm current={me.session.method !== 'recovery_link'} label="Save and continue" onChanged={refresh}>
          <button type="button" className="button-text" onClick={() => void signOut()}>
            Sign out
          </button>
        </ChangePasswordForm>
      </div>
    </Plain>
  );
}
