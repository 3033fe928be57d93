import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { useApi } from '../api/api-context.js';
import { Refused, sentenceOf } from '../api/failure.js';
import { NewPassword } from './NewPassword.js';
import { tellOtherTabs } from './SessionProvider.js';
import { useSession } from './session-context.js';

interface FormProps {
  /** The current password is not asked for where the session may do without; should the server want it, it is. */
  current: boolean;
  onChanged: () => Promise<void> | void;
  /** Says what the button does. */
  label: string;
  /** Other ways out, beside the button. */
  children?: ReactNode;
}

/** A new password for whoever is signed in. It ends all their sessions, and the answer begins the one that takes the place of this. */
export function ChangePasswordForm({ current, onChanged, label, children }: FormProps) {
  const api = useApi();
  const id = useId();
  const { me } = useSession();
  const [asked, setAsked] = useState(current);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);

  async function change(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setFailure(null);
    try {
      const known = asked ? { current_password: String(form.get('current_password')) } : {};
      await api.call('changePassword', { body: { ...known, new_password: String(form.get('new_password')), cookie: true } });
      tellOtherTabs();
      await onChanged();
    } catch (error) {
      if (error instanceof Refused && error.code === 'wrong_password') setAsked(true);
      setFailure(sentenceOf(error));
      setBusy(false);
    }
  }

  return (
    <form className="form" onSubmit={(event) => void change(event)}>
      <input type="text" hidden name="username" autoComplete="username" value={me.email} readOnly />
      {asked ? (
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
        {busy ? 'Saving…' : label}
      </button>
      {children}
    </form>
  );
}
