import type { InviteInfo } from '@countersign/contracts';
import { type FormEvent, useEffect, useId, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useApi } from '../../api/api-context.js';
import { sentenceOf } from '../../api/failure.js';
import { EmptyState } from '../../elements/telling/EmptyState.js';
import { Progress } from '../../elements/telling/Progress.js';
import { useTitle } from '../../elements/telling/title.js';
import { fullTimeOf } from '../../review/deadline.js';
import { Plain } from '../../Shell.js';
import { NewPassword } from '../../session/NewPassword.js';
import { tellOtherTabs } from '../../session/SessionProvider.js';

/** Where the link of an invitation leads; its token stands in the fragment. */
export function InviteScreen() {
  useTitle('Invitation');
  const api = useApi();
  const [token] = useState(() => location.hash.slice(1));
  const [offer, setOffer] = useState<InviteInfo | null>(null);
  const [failure, setFailure] = useState<string | null>(token === '' ? 'The link is incomplete. Open it exactly as it was sent.' : null);

  useEffect(() => {
    if (token === '') return;
    api
      .call('getInvite', { params: { token } })
      .then(setOffer)
      .catch((error: unknown) => setFailure(sentenceOf(error)));
  }, [api, token]);

  if (failure !== null) {
    return (
      <Plain>
        <EmptyState title="This invitation is not valid" actions={<Link href="/login">Sign in</Link>}>
          <p role="alert">{failure} Ask the sender for a new one.</p>
        </EmptyState>
      </Plain>
    );
  }
  return (
    <Plain>
      {offer === null ? (
        <Progress label="Loading the invitation…" />
      ) : (
        <div className="card">
          <h1 className="card-title">Join {offer.project.name}</h1>
          <p className="muted">
            You are invited as {offer.role === 'admin' ? 'an admin' : 'a reviewer'} with {offer.email}. The invitation expires on{' '}
            {fullTimeOf(offer.expires_at)}.
          </p>
          <AcceptForm token={token} email={offer.email} />
        </div>
      )}
    </Plain>
  );
}

function AcceptForm({ token, email }: { token: string; email: string }) {
  const api = useApi();
  const id = useId();
  const [, go] = useLocation();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);

  async function accept(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setFailure(null);
    try {
      const body = { name: String(form.get('name')), password: String(form.get('new_password')), cookie: true };
      await api.call('acceptInvite', { params: { token }, body });
      tellOtherTabs();
      go('/', { replace: true });
    } catch (error) {
      setFailure(sentenceOf(error));
      setBusy(false);
    }
  }

  return (
    <form className="form" onSubmit={(event) => void accept(event)}>
      <input type="text" hidden name="username" autoComplete="username" value={email} readOnly />
      <label className="form-row" htmlFor={`${id}-name`}>
        <span>Your name</span>
        <input id={`${id}-name`} className="input" name="name" autoComplete="name" required maxLength={200} />
      </label>
      <NewPassword />
      <p className="form-failure danger-text" role="alert">
        {failure}
      </p>
      <button type="submit" className="button button-primary button-wide" disabled={busy}>
        {busy ? 'Joining…' : 'Join'}
      </button>
    </form>
  );
}
