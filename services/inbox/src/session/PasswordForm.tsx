import { type FormEvent, useId, useState } from 'react';
import { useApi } from '../api/api-context.js';
import { sentenceOf } from '../api/failure.js';
import { tellOtherTabs } from './SessionProvider.js';

/** E-mail and password for a session. Where the address is known, the password is what is missing: a dialog puts the focus there. */
export function PasswordForm({ email = '', onSignedIn }: { email?: string; onSignedIn: () => void }) {
  const api = useApi();
  const id = useId();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);

  async function signIn(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setFailure(null);
    try {
      const body = { email: String(form.get('email')), password: String(form.get('password')), cookie: true };
      await api.call('login', { body });
      tellOtherTabs();
      onSignedIn();
    } catch (error) {
      setFailure(sentenceOf(error));
      setBusy(false);
    }
  }

  return (
    <form className="form" onSubmit={(event) => void signIn(event)}>
      <label className="form-row" htmlFor={`${id}-email`}>
        <span>E-mail</span>
        <input
          id={`${id}-email`}
          className="input"
          name="email"
          type="email"
          autoComplete="username"
          defaultValue={email}
          required
          maxLength={254}
        />
      </label>
      <label className="form-row" htmlFor={`${id}-password`}>
        <span>Password</span>
        <input
          id={`${id}-password`}
          className="input"
          name="password"
          ref={(input) => {
            if (email !== '') input?.setAttribute('autofocus', '');
          }}
          type="password"
          autoComplete="current-password"
          required
          maxLength={1024}
        />
      </label>
      <p className="form-failure danger-text" role="alert">
        {failure}
      </p>
      <button type="submit" className="button button-primary button-wide" disabled={busy}>
        {busy ? 'Signing in…' : 'Sign in'}
      </button>
    </form>
  );
}
