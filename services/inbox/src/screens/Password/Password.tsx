import { type FormEvent, useId, useState } from 'react';
import { useApi } from '../../api/api-context.js';
import { Refused, sentenceOf } from '../../api/failure.js';
import { useTitle } from '../../elements/telling/title.js';
import { Plain } from '../../Shell.js';
import { NewPassword } from '../../session/NewPassword.js';
import { useSession } from '../../session/session-context.js';

/** For somebody whose password was given to them, or who came by a recovery link: nothing else is open before they have chosen one. */
export function PasswordScreen() {
  useTitle('Choose a password');
  const api = useApi();
  const id = useId();
  const { me, refresh, signOut } = useSession();
  const [askCurrent, setAskCurrent] = useState(me.session.method !== 'recovery_link');
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);

  async function change(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setFailure(null);
    try {
      const current = askCurrent ? { current_password: String(form.get('current_password')) } : {};
      await api.call('changePassword', { body: { ...current, new_password: String(form.get('new_password')), cookie: true } });
      await refresh();
    } catch (error) {
      if (error instanceof Refused && error.code === 'wrong_password') setAskCurrent(true);
      setFailure(sentenceOf(error));
      setBusy(false);
    }
  }

  return (
    <Plain>
      <div className="card">
        <h1 className="card-title">Choose a password</h1>
        <p className="muted">You are signed in as {me.email}. Choose a password of your own to go on.</p>
        <form className="form" onSubmit={(event) => void change(event)}>
          <input type="text" hidden name="username" autoComplete="username" value={me.email} readOnly />
          {askCurrent ? (
            <label className="form-row" htmlFor={`${id}-current`}>
              <span>Current password</span>
              <input
                id={`${id}-current`}
                className="input"
                name="current_password"
                type="password"
                autoComplete="current-password"
                required
                maxLength={1024}
              />
            </label>
          ) : null}
          <NewPassword />
          <p className="form-failure danger-text" role="alert">
            {failure}
          </p>
          <button type="submit" className="button button-primary button-wide" disabled={busy}>
            {busy ? 'Saving…' : 'Save and continue'}
          </button>
          <button type="button" className="button-text" onClick={() => void signOut()}>
            Sign out
          </button>
        </form>
      </div>
    </Plain>
  );
}
