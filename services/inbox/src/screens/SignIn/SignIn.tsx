import { useEffect, useRef, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { useApi } from '../../api/api-context.js';
import { sentenceOf } from '../../api/failure.js';
import { Banner } from '../../elements/telling/Banner.js';
import { Progress } from '../../elements/telling/Progress.js';
import { useTitle } from '../../elements/telling/title.js';
import { Plain } from '../../Shell.js';
import { PasswordForm } from '../../session/PasswordForm.js';
import { safeReturnTo } from '../../session/return-to.js';
import { tellOtherTabs } from '../../session/SessionProvider.js';

/** The one-time token of a sign-in link. It stands in the fragment, which is taken away at once: it is good for one use and nobody's history. */
function takeLinkToken(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get('link');
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search);
  return token === '' ? null : token;
}

export function SignInScreen() {
  useTitle('Sign in');
  const api = useApi();
  const [, go] = useLocation();
  const returnTo = safeReturnTo(new URLSearchParams(useSearch()).get('return_to'), location.origin);
  const [token] = useState(takeLinkToken);
  const [failure, setFailure] = useState<string | null>(null);
  const exchanged = useRef(false);

  useEffect(() => {
    if (token === null || exchanged.current) return;
    exchanged.current = true;
    api
      .call('exchangeSignInLink', { body: { token, cookie: true } })
      .then(() => {
        tellOtherTabs();
        go(returnTo, { replace: true });
      })
      .catch((error: unknown) => setFailure(sentenceOf(error)));
  }, [api, token, go, returnTo]);

  if (token !== null && failure === null) {
    return (
      <Plain>
        <Progress label="Signing you in…" />
      </Plain>
    );
  }
  return (
    <Plain>
      <div className="card">
        <div>
          <h1 className="card-title">Sign in</h1>
          <p className="muted">Decide what AI agents ask for.</p>
        </div>
        {failure === null ? null : (
          <Banner tone="warning" title="Sign-in link failed" urgent>
            {failure} Sign in with your password, or ask whoever runs this server for a new link: they get one with{' '}
            <code>npx countersign users create</code>.
          </Banner>
        )}
        <PasswordForm onSignedIn={() => go(returnTo, { replace: true })} />
      </div>
    </Plain>
  );
}
