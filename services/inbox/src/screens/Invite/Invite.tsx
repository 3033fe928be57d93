import type { InviteInfo } from '@countersign/contracts';
import { type FormEvent, type ReactNode, useCallback, useEffect, useId, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useApi } from '../../api/api-context.js';
import { Refused, sentenceOf } from '../../api/failure.js';
import { EmptyState } from '../../elements/telling/EmptyState.js';
import { Progress } from '../../elements/telling/Progress.js';
import { useTitle } from '../../elements/telling/title.js';
import { fullTimeOf } from '../../review/deadline.js';
import { Plain } from '../../Shell.js';
import { NewPassword } from '../../session/NewPassword.js';
import { tellOtherTabs } from '../../session/SessionProvider.js';

/**
 * The token of the invitation. It comes in the fragment, and is taken out of the address at once, which is seen, copied and remembered. It stays
 * with the entry of the page's history: an invitation can be read again after a reload, until it is accepted.
 */
function tokenOfInvitation(): string {
  const linked = location.hash.slice(1);
  if (linked !== '') history.replaceState({ invitation: linked }, '', location.pathname + location.search);
  const kept: unknown = (history.state as { invitation?: unknown } | null)?.invitation;
  return typeof kept === 'string' ? kept : '';
}

/** Where the link of an invitation leads. */
export function InviteScreen() {
  useTitle('Invitation');
  const api = useApi();
  const [token] = useState(tokenOfInvitation);
  const [offer, setOffer] = useState<InviteInfo | null>(null);
  const [failure, setFailure] = useState<unknown>(null);

  const read = useCallback(() => {
    setFailure(null);
    api.call('getInvite', { params: { token } }).then(setOffer).catch(setFailure);
  }, [api, token]);
  useEffect(() => {
    if (token !== '') read();
  }, [token, read]);

  if (token === '') return <NoInvitation title="This link is incomplete" text="Open it exactly as it was sent." />;
  if (failure !== null) return <Refusal error={failure} onAgain={read} />;
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

/** Why there is nothing to accept, and what to do instead. */
function Refusal({ error, onAgain }: { error: unknown; onAgain: () => void }) {
  switch (error instanceof Refused ? error.code : null) {
    case 'invite_used':
      return <NoInvitation title="This invitation was already accepted" text="Sign in with the e-mail address it was sent to." />;
    case 'invite_expired':
      return <NoInvitation title="This invitation has expired" text="Ask whoever sent it for a new one." />;
    case 'invite_invalid':
    case 'validation_failed':
      return (
        <NoInvitation
          title="This invitation is not valid"
          text="It was withdrawn, or the link is not as it was sent. Ask whoever sent it for a new one."
        />
      );
    default:
      return (
        <NoInvitation
          title="The invitation could not be loaded"
          text={sentenceOf(error)}
          action={
            <button type="button" className="button button-primary" onClick={onAgain}>
              Try again
            </button>
          }
        />
      );
  }
}

const SIGN_IN = (
  <Link href="/login" className="button button-primary">
    Sign in
  </Link>
);

function NoInvitation({ title, text, action = SIGN_IN }: { title: string; text: string; action?: ReactNode }) {
  return (
    <Plain>
      <EmptyState whole title={title} actions={action}>
        <p role="alert">{text}</p>
      </EmptyState>
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
